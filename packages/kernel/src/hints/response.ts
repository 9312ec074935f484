/** What is read of a response. Each part may be missing, and none of them is trusted. */
export interface ResponseLike {
  readonly status?: number | undefined;
  /** Any container of headers: `Headers`, a plain object, a `Map`, pairs, node's `rawHeaders`. */
  readonly headers?: unknown;
  /** Parsed JSON, JSON text, or anything else. */
  readonly body?: unknown;
}

/** One property of a foreign value. Getters and proxies may throw: then there is nothing. */
export function field(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    // A polluted prototype must not be able to make every response look limited.
    if (Object.hasOwn(Object.prototype, key) && !Object.hasOwn(value, key)) return undefined;
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** The first `most` elements of a foreign array; empty for anything else. */
export function elements(value: unknown, most: number): unknown[] {
  try {
    return Array.isArray(value) ? Array.prototype.slice.call(value, 0, most) : [];
  } catch {
    return [];
  }
}

/** Error bodies that carry hints are a few kilobytes; parsing much more would cost milliseconds. */
const MAX_JSON_CHARS = 64 * 1024;

/** Parses JSON text that mentions `marker`; undefined for everything else. */
export function parseJson(text: string, marker: string): unknown {
  if (text.length > MAX_JSON_CHARS || !text.includes(marker)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
