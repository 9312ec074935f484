/** How many insertions, deletions, replacements or swaps of neighbours lie between two words. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

// Long enough for every name that we know; what is longer is not a slip of the finger.
const MAX_LENGTH = 100;

/** The names that somebody may have meant, the likeliest first. Nothing where nothing is near. */
export function closestMatches(wrong: string, names: Iterable<string>, most = 3): string[] {
  if (wrong.length > MAX_LENGTH) return [];
  const word = normal(wrong);
  return [...names]
    .map((name) => ({ name, distance: distanceTo(word, normal(name)) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ name }) => name);
}

/** A word that contains the other is near, however much longer it is. */
function distanceTo(word: string, name: string): number {
  const isPart = word.length > 2 && (name.includes(word) || word.includes(name));
  return isPart ? 1 : editDistance(word, name);
}

function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** «Did you mean …?», or nothing. */
export function didYouMean(wrong: string, names: Iterable<string>): string {
  const near = closestMatches(wrong, names);
  return near.length === 0 ? '' : ` Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
}
