/** An untrusted JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectOf = (value: unknown): JsonObject | undefined =>
  isObject(value) ? value : undefined;
export const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
/** A safe non-negative integer. */
export const countOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const stringsOf = (value: unknown): readonly string[] =>
  arrayOf(value).filter((entry) => typeof entry === 'string');
export const objectsOf = (value: unknown): readonly JsonObject[] => arrayOf(value).filter(isObject);
/** An array of numbers only; undefined if it is empty or any entry is not a number. */
export const numbersOf = (value: unknown): readonly number[] | undefined => {
  const numbers = arrayOf(value).flatMap((entry) => numberOf(entry) ?? []);
  return numbers.length > 0 && numbers.length === arrayOf(value).length ? numbers : undefined;
};

/**
 * The first own member of these names: own, because an upstream may use names such as `constructor`;
 * several, for one that renames its members.
 */
export function memberOf(value: unknown, ...names: readonly string[]): unknown {
  const name = names.find((candidate) => isObject(value) && Object.hasOwn(value, candidate));
  return name === undefined ? undefined : (value as JsonObject)[name];
}

/** Omits undefined members. */
export function compact<T extends object>(
  members: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> };
}
