const MAX_LENGTH = 120;

/** ` Did you mean "x"?`, or an empty string without a close match. Names the best match, or the best two. */
export function didYouMean(unknown: string, names: Iterable<string>, prefix = ''): string {
  if (unknown.length > MAX_LENGTH) return '';
  const word = normalize(unknown.slice(prefix.length));
  const ranked = [...new Set(names)]
    .map((name) => ({ name, to: normalize(name.slice(prefix.length)) }))
    .map(({ name, to }) => ({ name, to, distance: distanceOf(word, to) }))
    .filter(({ to, distance }) => distance <= Math.max(1, Math.floor(to.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked.filter(({ distance }) => distance === ranked[0]?.distance).slice(0, 2);
  return best.length === 0
    ? ''
    : ` Did you mean ${best.map(({ name }) => `"${name}"`).join(' or ')}?`;
}

/** A name that contains the other is close, however much longer it is: `post_tweet`, `x_post_tweet`. */
function distanceOf(a: string, b: string): number {
  const isPart = Math.min(a.length, b.length) > 2 && (a.includes(b) || b.includes(a));
  return isPart ? Math.min(1, Math.abs(a.length - b.length)) : editDistance(a, b);
}

/** Insertions, deletions, replacements and swaps of neighbouring characters. */
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

const normalize = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
