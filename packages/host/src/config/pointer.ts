export type Path = readonly PropertyKey[];

/** A path as a JSON pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
