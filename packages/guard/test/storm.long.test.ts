import { expect, it } from 'vitest';
import { runStorm } from './support/storm.js';

it('2,000 mixed calls while the server is killed at random', async () => {
  const result = await runStorm(2000);
  console.log(JSON.stringify(result));
  expect(result.kills).toBeGreaterThan(20);
  expect(result.readsAnswered / result.reads).toBeGreaterThanOrEqual(0.99);
  expect(result).toMatchObject({ duplicates: [], wrong: [], untyped: 0 });
});
