/** An untrusted JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A safe non-negative integer. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** The total number of matches that a page reports. */
export function matchedOf(page: JsonObject): number | undefined {
  return countOf(page['numberMatched']) ?? countOf(objectOf(page['context'])?.['matched']);
}

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringsOf(value: unknown): readonly string[] {
  return arrayOf(value).filter((entry) => typeof entry === 'string');
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  return arrayOf(value).filter(isObject);
}

/** An array of numbers only; undefined if any entry is not a number. */
export function numbersOf(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const numbers = value.filter((entry) => numberOf(entry) !== undefined) as readonly number[];
  return numbers.length === value.length ? numbers : undefined;
}

/** An own member, because an upstream may use names such as `constructor`. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Omits undefined members. */
export function compact<T extends object>(
  members: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> };
}
