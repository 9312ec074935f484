/**
 * A moment as answers show it: ISO 8601 in UTC. Undefined for what is none, and for years that
 * RFC 3339 cannot write in four digits.
 */
export function isoMoment(given: unknown): string | undefined {
  if (typeof given !== 'string' && !(given instanceof Date)) return undefined;
  const date = new Date(given);
  if (Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString();
  return /^\d{4}-/.test(text) ? text : undefined;
}
