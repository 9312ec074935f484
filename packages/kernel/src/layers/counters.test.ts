import { describe, expect, it } from 'vitest';
import { rig } from '../engine/rig.fixture.js';
import { fault, type Step } from '../testing/index.js';
import { budget } from './budget.js';
import { deadline } from './clocks.js';
import { counters } from './counters.js';
import { retry } from './retry.js';

const down: Step<string> = { fault: fault('server') };
const quick = retry({ maxRetries: 2, initialBackoffMs: 10 });

describe('counters', () => {
  it('count calls, attempts, retries, timeouts and what was exhausted', async () => {
    const counts = counters();
    const steps: Step<string>[] = [
      { answer: 'a' },
      down,
      { answer: 'b' },
      down,
      down,
      down,
      { fault: fault('rejected') },
      { hang: true },
    ];
    const { call } = rig(steps, [quick, deadline(1000), counts]);
    for (let i = 0; i < 5; i++) await call();
    expect({ ...counts }).toEqual({
      name: 'counters',
      calls: 5,
      failures: 3,
      attempts: 1 + 2 + 3 + 1 + 1,
      retries: 3,
      timeouts: 1,
      exhausted: 1,
    });
  });

  it('count a retry that the budget refused as exhausted', async () => {
    const counts = counters();
    const { call } = rig(
      [down],
      [quick, counts, budget({ capacity: 0.5, perSuccess: 0, perSecond: 0 })],
    );
    await call();
    expect(counts.exhausted).toBe(1);
  });
});
