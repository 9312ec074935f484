export interface SortKey {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** `-datetime,+id`, a list of such, or the objects of the extension. */
export type SortbyArgument = string | readonly (string | SortKey)[];

export function readSortby(given: SortbyArgument): readonly SortKey[] {
  const list = typeof given === 'string' ? given.split(',') : given;
  return list
    .map((one) => (typeof one === 'string' ? fromText(one.trim()) : one))
    .filter(({ field }) => field !== '');
}

function fromText(text: string): SortKey {
  const field = text.replace(/^[+-]/, '').trim();
  return { field, direction: text.startsWith('-') ? 'desc' : 'asc' };
}

const TOP_LEVEL: ReadonlySet<string> = new Set(['id', 'collection', 'geometry', 'bbox']);

/** With `properties.` where it was missing and without where it was: servers disagree on it. */
export function otherPrefix(keys: readonly SortKey[]): readonly SortKey[] {
  return keys.map(({ field, direction }) => {
    if (field.startsWith('properties.')) return { field: field.slice(11), direction };
    return { field: TOP_LEVEL.has(field) ? field : `properties.${field}`, direction };
  });
}
