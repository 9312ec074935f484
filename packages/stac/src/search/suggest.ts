/** Names are compared without case, separators and punctuation: `sentinel2` equals `sentinel-2`. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Bounds the work on untrusted names. */
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 2_000;
const MAX_SUGGESTIONS = 3;

/** The candidates that are similar to a name, best first. */
export function suggestions(name: string, candidates: Iterable<string>): readonly string[] {
  const word = normalized(name);
  if (word === '' || word.length > MAX_LENGTH) return [];
  const limit = Math.max(1, Math.floor(word.length / 4));
  const matches = [...new Set(candidates)]
    .slice(0, MAX_CANDIDATES)
    .filter((candidate) => candidate !== name && candidate.length <= MAX_LENGTH)
    .map((candidate) => ({ candidate, distance: distanceTo(word, candidate, limit) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance);
  // An exact match after normalisation excludes all others.
  const isExact = matches[0]?.distance === 0;
  return matches
    .filter(({ distance }) => !isExact || distance === 0)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

export function didYouMean(name: string, candidates: Iterable<string>): string {
  return asQuestion(suggestions(name, candidates));
}

export function asQuestion(names: readonly string[]): string {
  if (names.length === 0) return '';
  return ` Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?`;
}

/** 0 if the names differ in spelling or prefix only (`cloud_cover`, `eo:cloud_cover`). */
function distanceTo(word: string, candidate: string, limit: number): number {
  const whole = normalized(candidate);
  const bare = normalized(candidate.slice(candidate.lastIndexOf(':') + 1));
  if (word === whole || word === bare) return 0;
  const contains = word.length > 2 && (whole.includes(word) || word.includes(bare));
  if (contains && bare.length > 2) return 1;
  const distance = editDistance(word, whole, limit);
  return whole === bare ? distance : Math.min(distance, editDistance(word, bare, limit));
}

/** The Levenshtein distance; Infinity above the limit. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Infinity;
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current[column] = Math.min(previous[column]! + 1, current[column - 1]! + 1, replaced);
    }
    if (Math.min(...current) > limit) return Infinity;
    previous = current;
  }
  return previous[b.length]!;
}
