/** Lower-case header names, with a bit set of their first letters as a fast filter. */
export interface HeaderNames {
  readonly names: ReadonlySet<string>;
  readonly initials: number;
}

export type FoundHeaders = ReadonlyMap<string, string>;

/** Bounds the work on an endless iterator. */
const MAX_FIELDS = 1024;

/** A longer value is treated as absent. */
const MAX_VALUE_CHARS = 2048;

/** A field with more lines is treated as absent. */
const MAX_LINES = 32;

export function headerNames(names: Iterable<string>): HeaderNames {
  const set = new Set(names);
  let initials = 0;
  for (const name of set) initials |= letterBit(name);
  return { names: set, initials };
}

/**
 * Finds headers in a plain object (Node.js, undici), a `Headers`, a `Map`, an array of pairs, flat
 * `rawHeaders`, or any object with `get`. Names are case-insensitive. Repeated fields are joined with
 * commas (RFC 9110), so a number that was sent twice is malformed. Never throws; undefined if no
 * wanted header exists.
 */
export function findHeaders(headers: unknown, wanted: HeaderNames): FoundHeaders | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const found = new Collector(wanted);
  try {
    if (Array.isArray(headers) && !Array.isArray(headers[0])) fromFlat(headers, found);
    else if (Symbol.iterator in headers) fromPairs(headers as Iterable<unknown>, found);
    else if (typeof (headers as Getter).get === 'function') fromGetter(headers as Getter, found);
    else fromObject(headers as Record<string, unknown>, found);
  } catch {
    // Keeps the headers that were found before the container threw.
  }
  return found.values;
}

interface Getter {
  readonly get: (name: string) => unknown;
}

function fromFlat(raw: readonly unknown[], found: Collector): void {
  const end = Math.min(raw.length - 1, MAX_FIELDS * 2);
  for (let i = 0; i < end; i += 2) found.add(raw[i], raw[i + 1]);
}

function fromPairs(pairs: Iterable<unknown>, found: Collector): void {
  let left = MAX_FIELDS;
  for (const pair of pairs) {
    if (left-- === 0) break;
    if (Array.isArray(pair)) found.add(pair[0], pair[1]);
  }
}

function fromGetter(headers: Getter, found: Collector): void {
  for (const name of found.wanted.names) {
    try {
      found.add(name, headers.get(name));
    } catch {
      // Skips a field that throws.
    }
  }
}

function fromObject(headers: Record<string, unknown>, found: Collector): void {
  for (const name in headers) {
    if (found.wants(name) === undefined || !Object.hasOwn(headers, name)) continue;
    try {
      found.add(name, headers[name]);
    } catch {
      // Skips a field that throws.
    }
  }
}

class Collector {
  readonly wanted: HeaderNames;
  values: Map<string, string> | undefined;

  constructor(wanted: HeaderNames) {
    this.wanted = wanted;
  }

  /** The lower-case name if it is wanted. The first letter rules most fields out. */
  wants(name: string): string | undefined {
    if ((this.wanted.initials & letterBit(name)) === 0) return undefined;
    if (this.wanted.names.has(name)) return name;
    const lower = name.toLowerCase();
    return this.wanted.names.has(lower) ? lower : undefined;
  }

  add(name: unknown, value: unknown): void {
    const wanted = typeof name === 'string' ? this.wants(name) : undefined;
    if (wanted === undefined) return;
    const text = fieldText(value);
    if (text === undefined) return;
    this.values ??= new Map();
    const before = this.values.get(wanted);
    this.values.set(wanted, before === undefined ? text : `${before}, ${text}`);
  }
}

/** Upper- and lower-case letters share their five low bits. */
function letterBit(name: string): number {
  return 1 << (name.charCodeAt(0) & 31);
}

function fieldText(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return value.length <= MAX_VALUE_CHARS ? trimSpace(value) : undefined;
  }
  if (typeof value === 'number') return String(value);
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_LINES) return undefined;
  if (!value.every((line) => typeof line === 'string' && line.length <= MAX_VALUE_CHARS)) {
    return undefined;
  }
  return fieldText(value.join(', '));
}

/** Trims space and tab, the optional whitespace of HTTP; `String.trim` removes more. */
function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
