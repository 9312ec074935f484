// Long enough for every name that is known; what is longer is not a slip of the finger.
const MAX_LENGTH = 120;

/**
 * ` Did you mean "x"?`, or nothing where nothing is near. `core`: the part of a name that is compared,
 * where all names begin alike.
 */
export function didYouMean(
  wrong: string,
  names: Iterable<string>,
  core: (name: string) => string = (name) => name,
): string {
  const near = closestMatches(wrong, names, core);
  return near.length === 0 ? '' : ` Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
}

/** The nearest, and one other that is as near. */
function closestMatches(
  wrong: string,
  names: Iterable<string>,
  core: (name: string) => string,
): string[] {
  if (wrong.length > MAX_LENGTH) return [];
  const word = bare(core(wrong));
  const found = [...new Set(names)]
    .map((name) => ({ name, to: bare(core(name)) }))
    .map(({ name, to }) => ({ name, to, distance: distanceOf(word, to) }))
    .filter(({ to, distance }) => distance <= Math.max(1, Math.floor(to.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return found
    .filter(({ distance }) => distance === found[0]?.distance)
    .slice(0, 2)
    .map(({ name }) => name);
}

/** A name that contains the other is near, however much longer it is: `post_tweet`, `x_post_tweet`. */
function distanceOf(a: string, b: string): number {
  const isPart = Math.min(a.length, b.length) > 2 && (a.includes(b) || b.includes(a));
  return isPart ? Math.min(1, Math.abs(a.length - b.length)) : editDistance(a, b);
}

/** Insertions, deletions, replacements, and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= a.length; row++) {
    rows[row] = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      rows[row]![column] = Math.min(
        cell(row - 1, column) + 1,
        cell(row, column - 1) + 1,
        cell(row - 1, column - 1) + (same ? 0 : 1),
        row > 1 && column > 1 && swapped ? cell(row - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return cell(a.length, b.length);
}

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
