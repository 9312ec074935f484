/** A member of an object, a place in a list, or every place in it. */
export type Segment =
  | { readonly name: string }
  | { readonly index: number }
  | { readonly each: true };

/** Of a path that the schema has accepted: `args.media[*].id`, `args["a name"][0]`. */
export function parsePath(text: string): readonly Segment[] {
  const parts = text.slice('args'.length).matchAll(/\.([^.[]+)|\["([^"]+)"\]|\[(\*|\d+)\]/g);
  return [...parts].map(([, plain, quoted, place]): Segment => {
    if (place === '*') return { each: true };
    return place === undefined ? { name: plain ?? quoted ?? '' } : { index: Number(place) };
  });
}

/** The same path in one spelling, whichever it was written in. */
export function pathText(segments: readonly Segment[]): string {
  return `args${segments.map(segmentText).join('')}`;
}

function segmentText(segment: Segment): string {
  if ('each' in segment) return '[*]';
  if ('index' in segment) return `[${segment.index}]`;
  const { name } = segment;
  return /^[A-Za-z_$][\w$-]*$/.test(name) ? `.${name}` : `["${name}"]`;
}
