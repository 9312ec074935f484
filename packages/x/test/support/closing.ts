import { afterAll } from 'vitest';

type Close = () => Promise<unknown>;

/**
 * Closes the resources of a suite after all of its tests, because concurrent tests may share them.
 */
export function useClosing(): (close: Close) => void {
  const closing: Close[] = [];
  afterAll(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
  }, PATIENCE_MS);
  return (close) => closing.push(close);
}

/** Timeout of tests with servers, journals on disk and processes on a shared machine. */
export const PATIENCE_MS = 60_000;
