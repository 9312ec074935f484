import { expect, it } from 'vitest';
import { runStorm } from './support/storm.js';

it('mutations are executed at most once while the server is killed at random', async () => {
  const result = await runStorm(200);
  expect(result.kills).toBeGreaterThan(0);
  expect(result).toMatchObject({ duplicates: [], wrong: [], untyped: 0 });
  expect(result.readsAnswered).toBeGreaterThanOrEqual(result.reads * 0.95);
});
