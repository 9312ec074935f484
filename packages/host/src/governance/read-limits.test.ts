import { expect, it } from 'vitest';
import { ReadLimits } from './read-limits.js';

const minute = { name: 'models/minute', max: 2, windowMs: 60_000 };
const hour = { name: 'models/hour', max: 3, windowMs: 3_600_000 };

it('counts the calls of a sliding window and says how long to wait', () => {
  const limits = new ReadLimits();
  expect(limits.claim([minute], 0)).toBeUndefined();
  expect(limits.claim([minute], 10_000)).toBeUndefined();
  expect(limits.claim([minute], 20_000)?.input).toMatchObject({
    code: 'policy_denied_rate_limited',
    retryAfterMs: 40_000,
    details: { rule: 'models/minute' },
  });
  expect(limits.claim([minute], 60_000)).toBeUndefined();
});

it('does not count a denied call, and reports the limit with the longest wait', () => {
  const limits = new ReadLimits();
  for (const at of [0, 1, 60_001]) expect(limits.claim([minute, hour], at)).toBeUndefined();
  const denied = limits.claim([minute, hour], 60_002)?.input;
  expect(denied).toMatchObject({ details: { rule: 'models/hour' }, retryAfterMs: 3_539_998 });
  expect(limits.claim([minute], 60_003)).toBeUndefined();
});

it('a limit of zero denies every call', () => {
  expect(new ReadLimits().claim([{ ...minute, max: 0 }], 0)?.input.retryAfterMs).toBe(60_000);
});
