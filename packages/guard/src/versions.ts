/** Comparisons of dotted numbers, all of which must hold: `>=1.2.0 <2`, or `*`. */
export const VERSION_RANGE =
  /^(?:\*|(?:(?:>=|<=|>|<|=)\d+(?:\.\d+)*)(?: (?:>=|<=|>|<|=)\d+(?:\.\d+)*)*)$/;

/**
 * Whether a version is one of those. What follows the numbers (`-beta.1`) does not count; a version without
 * numbers is in no range but `*`.
 */
export function isInRange(version: string, range: string): boolean {
  if (range === '*') return true;
  const [, given] = /^v?(\d+(?:\.\d+)*)(?:[-+].*)?$/.exec(version) ?? [];
  if (given === undefined) return false;
  return range.split(' ').every((part) => {
    const [, operator, bound = ''] = /^(>=|<=|>|<|=)(.+)$/.exec(part) ?? [];
    const order = compare(given, bound);
    if (operator === '>=') return order >= 0;
    if (operator === '<=') return order <= 0;
    if (operator === '>') return order > 0;
    return operator === '<' ? order < 0 : order === 0;
  });
}

function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => text.split('.').map(Number));
  for (let index = 0; index < Math.max(a?.length ?? 0, b?.length ?? 0); index++) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
