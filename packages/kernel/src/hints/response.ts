/** A response of any HTTP client. All parts are optional and untrusted. */
export interface ResponseLike {
  readonly status?: number | undefined;
  /** `Headers`, a plain object, a `Map`, pairs, or `rawHeaders` of Node.js. */
  readonly headers?: unknown;
  /** Parsed JSON, a JSON string, or anything else. */
  readonly body?: unknown;
}

/** A property of an untrusted value; undefined if a getter or proxy throws. */
export function field(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    // Ignores a polluted prototype.
    if (Object.hasOwn(Object.prototype, key) && !Object.hasOwn(value, key)) return undefined;
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** The first `max` elements of an untrusted array; empty for other values. */
export function elements(value: unknown, max: number): unknown[] {
  try {
    return Array.isArray(value) ? Array.prototype.slice.call(value, 0, max) : [];
  } catch {
    return [];
  }
}

/** Error bodies with hints are a few kilobytes; larger ones are not parsed. */
const MAX_JSON_CHARS = 64 * 1024;

/** Parses a JSON string that contains `marker`; undefined otherwise. */
export function parseJson(text: string, marker: string): unknown {
  if (text.length > MAX_JSON_CHARS || !text.includes(marker)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
