import { describe, expect, it } from 'vitest';
import { faultOf, rig } from '../engine/rig.fixture.js';
import { fault, type Step } from '../testing/index.js';
import { budget } from './budget.js';
import { retry } from './retry-and-timeouts.js';

const down: Step<string> = { fault: fault('server') };
const quick = retry({ maxRetries: 2, initialBackoffMs: 10 });

describe('budget', () => {
  it('takes a token before each backoff and ends a call immediately when it is empty', async () => {
    const bucket = budget({ capacity: 3, perSuccess: 0, perSecond: 0 });
    const { call, clock, upstream, events } = rig([down], [quick, bucket]);
    await call();
    await call();
    expect(upstream.requests).toHaveLength(3 + 2);
    const before = clock.now();
    expect(faultOf(await call()).kind).toBe('server');
    expect(clock.now()).toBe(before);
    expect(events.findLast(({ type }) => type === 'retry_give_up')).toMatchObject({
      reason: 'budget',
    });
  });

  it('is refilled by successes, up to its capacity', async () => {
    const bucket = budget({ capacity: 2, perSuccess: 0.5, perSecond: 0 });
    const { call } = rig([down, down, down, { answer: 'ok' }], [quick, bucket]);
    await call();
    expect(bucket.tokens).toBe(0);
    for (const tokens of [0.5, 1, 1.5, 2, 2]) {
      await call();
      expect(bucket.tokens).toBe(tokens);
    }
  });

  it('is refilled over time with perSecond', async () => {
    const bucket = budget({ capacity: 1, perSuccess: 0, perSecond: 0.1 });
    const { call, clock, upstream } = rig([down], [quick, bucket]);
    await call();
    expect(upstream.requests).toHaveLength(2);
    await clock.advance(10_000);
    await call();
    expect(upstream.requests).toHaveLength(4);
  });
});
