let process: string | undefined;
let count = 0;

/** Unique enough to find the lines of one call among all lines of all processes. */
export function nextCorrelationId(): string {
  process ??= globalThis.crypto.randomUUID().slice(0, 13);
  return `${process}-${(count++).toString(36)}`;
}
