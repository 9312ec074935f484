/** The command line was not understood. */
export class UsageError extends Error {}

/** A whole number within bounds, `_` between its digits allowed; undefined where nothing was said. */
export function whole(
  name: string,
  text: string | undefined,
  min: number,
  max: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text.replaceAll('_', '')) ? Number(text.replaceAll('_', '')) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be a whole number from ${min} to ${max}, not ${text}`);
}
