/** Bounds the work on names that an upstream or a caller supplies. */
const MAX_LENGTH = 100;
const MAX_CANDIDATES = 2_000;

/** The known names that an unknown one was probably meant to be, best first. */
export function closestMatches(unknown: string, names: Iterable<string>, max = 3): string[] {
  const word = normalize(unknown);
  if (word === '' || unknown.length > MAX_LENGTH) return [];
  const matches = [...new Set(names)]
    .slice(0, MAX_CANDIDATES)
    .filter((name) => name !== unknown && name.length <= MAX_LENGTH)
    .map((name) => ({ name, distance: distanceTo(word, name) }))
    .filter(({ name, distance }) => distance <= tolerance(word, normalize(name)))
    .toSorted((a, b) => a.distance - b.distance);
  // The same name in another spelling is the only suggestion.
  const isExact = matches[0]?.distance === 0;
  return matches
    .filter(({ distance }) => !isExact || distance === 0)
    .slice(0, max)
    .map(({ name }) => name);
}

/** ` Did you mean "x"?`, or an empty string without a close match. */
export function didYouMean(unknown: string, names: Iterable<string>): string {
  return asQuestion(closestMatches(unknown, names));
}

export function asQuestion(names: readonly string[]): string {
  if (names.length === 0) return '';
  return ` Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?`;
}

/** Ignores case, separators and punctuation: `sentinel2` equals `sentinel-2`. */
function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

const tolerance = (word: string, name: string): number =>
  Math.max(1, Math.floor(Math.min(word.length, name.length) / 3));

/** Also compares without a namespace prefix: `cloud_cover` equals `eo:cloud_cover`. */
function distanceTo(word: string, name: string): number {
  const whole = normalize(name);
  const local = normalize(name.slice(name.lastIndexOf(':') + 1));
  if (word === whole || word === local) return 0;
  if (Math.min(word.length, local.length) > 2 && (whole.includes(word) || word.includes(local))) {
    return 1;
  }
  const distance = editDistance(word, whole);
  return whole === local ? distance : Math.min(distance, editDistance(word, local));
}

/** Insertions, deletions, replacements and swaps of neighbouring characters. */
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
