/** A parsed JSON object with unvalidated members. */
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

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  return arrayOf(value).filter(isObject);
}

/** The first existing member of these names, for an upstream that renames its members. */
export function memberOf(doc: JsonObject | undefined, ...names: readonly string[]): unknown {
  const name = names.find((candidate) => doc !== undefined && Object.hasOwn(doc, candidate));
  return name === undefined ? undefined : doc?.[name];
}

/** Removes undefined members. */
export function compact<T extends object>(
  members: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> };
}
