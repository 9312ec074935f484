const FIRST_MS = 250;
const LONGEST_MS = 5_000;
/** More than any call has time for that waits as long as it should. */
export const MAX_LOOKS = 100;

/** How long to wait before a look. As long as X says, and longer from look to look where it says little. */
export function lookAfterMs(look: number, saidSecs: number | undefined): number {
  const atLeast = Math.min(LONGEST_MS, FIRST_MS * 2 ** look);
  return Math.max(atLeast, (saidSecs ?? 0) * 1000);
}
