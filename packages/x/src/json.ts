/** A JSON object from outside: nothing is known of its members until somebody has looked. */
export type Doc = Readonly<Record<string, unknown>>;

export function isDoc(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function docOf(value: unknown): Doc | undefined {
  return isDoc(value) ? value : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function docsOf(value: unknown): readonly Doc[] {
  return listOf(value).filter(isDoc);
}

/** The first member of that name which is there, for upstreams that are renaming theirs. */
export function memberOf(doc: Doc | undefined, ...names: readonly string[]): unknown {
  const name = names.find((one) => doc !== undefined && Object.hasOwn(doc, one));
  return name === undefined ? undefined : doc?.[name];
}

/** Leaves out members that have no value, so that an answer says only what is known. */
export function compact<T extends object>(
  members: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> };
}
