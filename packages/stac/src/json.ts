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

/** How many of something; what is not a whole number that can be counted to is not told. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** How many entries match in all, where a page of a list has that number. */
export function matchedOf(page: Doc): number | undefined {
  return countOf(page['numberMatched']) ?? countOf(docOf(page['context'])?.['matched']);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((entry) => typeof entry === 'string');
}

export function docsOf(value: unknown): readonly Doc[] {
  return listOf(value).filter(isDoc);
}

/** Numbers throughout, or nothing: half a bounding box is none. */
export function numbersOf(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const numbers = value.filter((entry) => numberOf(entry) !== undefined) as readonly number[];
  return numbers.length === value.length ? numbers : undefined;
}

/** The member, not what an object inherits: `constructor` is a name like any other to an upstream. */
export function memberOf(value: unknown, name: string): unknown {
  return isDoc(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Leaves out members that have no value, so that an answer says only what is known. */
export function compact<T extends object>(
  members: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> };
}
