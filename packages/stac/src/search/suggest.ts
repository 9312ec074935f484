/** Names are compared without case, separators and punctuation: `sentinel2` is `sentinel-2`. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Longer names are not typing mistakes, and comparing them costs time. */
const MAX_LENGTH = 100;
const MAX_SUGGESTIONS = 3;
const MAX_CANDIDATES = 5_000;

/** The candidates that a name was probably meant to be, best first. */
export function suggestions(name: string, candidates: Iterable<string>): readonly string[] {
  const word = normalized(name);
  if (word === '' || word.length > MAX_LENGTH) return [];
  return [...new Set(candidates)]
    .slice(0, MAX_CANDIDATES)
    .filter((candidate) => candidate !== name && candidate.length <= MAX_LENGTH)
    .map((candidate) => ({ candidate, distance: distanceTo(word, candidate) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(word.length / 4)))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

export function didYouMean(name: string, candidates: Iterable<string>): string {
  const names = suggestions(name, candidates).map((one) => `"${one}"`);
  return names.length === 0 ? '' : ` Did you mean ${names.join(' or ')}?`;
}

/** 0: the same but for its spelling or prefix (`cloud_cover`, `eo:cloud_cover`). */
function distanceTo(word: string, candidate: string): number {
  const whole = normalized(candidate);
  const bare = normalized(candidate.slice(candidate.lastIndexOf(':') + 1));
  if (word === whole || word === bare) return 0;
  const contains = word.length > 2 && (whole.includes(word) || word.includes(bare));
  if (contains && bare.length > 2) return 1;
  return Math.min(editDistance(word, whole), editDistance(word, bare));
}

/** Insertions, deletions and replacements between two words. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current[column] = Math.min(previous[column]! + 1, current[column - 1]! + 1, replaced);
    }
    previous = current;
  }
  return previous[b.length]!;
}
