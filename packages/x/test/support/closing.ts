import { afterAll } from 'vitest';
import { PATIENCE_MS } from './patience.js';

type Close = () => Promise<unknown>;

/**
 * What a suite opened ends with the suite, the last first. Not with the test that opened it: tests
 * that mostly wait run side by side, and none may close what another still uses.
 */
export function useClosing(): (close: Close) => void {
  const closing: Close[] = [];
  afterAll(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  }, PATIENCE_MS);
  return (close) => closing.push(close);
}
