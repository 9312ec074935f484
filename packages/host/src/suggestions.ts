/** The Damerau-Levenshtein distance: insertions, deletions, substitutions and transpositions. */
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

// Longer than any known name: longer input is not a typing error.
const MAX_LENGTH = 100;

/** The names most similar to a misspelled name, closest first; empty if none is similar. */
export function closestMatches(wrong: string, names: Iterable<string>, limit = 3): string[] {
  if (wrong.length > MAX_LENGTH) return [];
  const word = normalize(wrong);
  return [...names]
    .map((name) => ({ name, distance: distanceTo(word, normalize(name)) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ name }) => name);
}

/** A name that contains the word, or is contained in it, counts as close whatever its length. */
function distanceTo(word: string, name: string): number {
  const isPart = word.length > 2 && (name.includes(word) || word.includes(name));
  return isPart ? 1 : editDistance(word, name);
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** ` Did you mean …?`, or an empty string. */
export function didYouMean(wrong: string, names: Iterable<string>): string {
  const matches = closestMatches(wrong, names);
  return matches.length === 0
    ? ''
    : ` Did you mean ${matches.map((name) => `"${name}"`).join(' or ')}?`;
}
