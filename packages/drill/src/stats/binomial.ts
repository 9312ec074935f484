/**
 * The share of successes below which it was no bad luck: what is expected, less so many standard
 * deviations. `chances` holds the chance of each call; where all are the same p this is
 * p − deviations × √(p (1 − p) ÷ n).
 */
export function lowestExpected(chances: readonly number[], deviations: number): number {
  const count = chances.length;
  const expected = chances.reduce((sum, chance) => sum + chance, 0) / count;
  const variance = chances.reduce((sum, chance) => sum + chance * (1 - chance), 0);
  return expected - (deviations * Math.sqrt(variance)) / count;
}
