import { afterAll } from 'vitest';

type Close = () => Promise<unknown>;

/**
 * What a suite opened ends with the suite, all at once. Not with the test that opened it: tests that
 * mostly wait run side by side, and none may close what another still uses.
 */
export function useClosing(): (close: Close) => void {
  const closing: Close[] = [];
  afterAll(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
  }, PATIENCE_MS);
  return (close) => closing.push(close);
}

/** For tests with servers, journals on a disk and processes, where others use the machine too. */
export const PATIENCE_MS = 60_000;
