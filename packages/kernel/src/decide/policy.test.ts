import { describe, expect, it } from 'vitest';
import { breaker } from '../layers/breaker.js';
import { budget } from '../layers/budget.js';
import { bulkhead } from '../layers/bulkhead.js';
import { cache } from '../layers/cache.js';
import { attemptTimeout, deadline, idle, retry } from '../layers/retry-and-timeouts.js';
import { hedge } from '../layers/hedge.js';
import { presets } from '../presets.js';
import { health } from '../layers/health.js';
import { compose } from '../engine/pipeline.js';
import { definePolicy, type ResiliencePolicy } from './policy.js';

describe('definePolicy', () => {
  it('has defaults: 3 retries, 1 s doubling up to 60 s', () => {
    expect(definePolicy()).toMatchObject({
      maxRetries: 3,
      initialBackoffMs: 1000,
      maxBackoffMs: 60_000,
      backoffMultiplier: 2,
    });
  });

  it('freezes its result and returns a defined policy unchanged', () => {
    const policy = definePolicy({ maxRetries: 1 });
    expect(Object.isFrozen(policy)).toBe(true);
    expect(definePolicy(policy)).toBe(policy);
  });

  it('freezes a deep copy', () => {
    const rateLimit = {
      onLimit: 'wait' as 'wait' | 'surface',
      maxWaitMs: 1,
      withoutHint: 'backoff',
    };
    const policy = definePolicy({ rateLimit: rateLimit as never });
    rateLimit.onLimit = 'surface';
    expect(policy.rateLimit.onLimit).toBe('wait');
    expect(Object.isFrozen(policy.rateLimit)).toBe(true);
    expect(Object.isFrozen(presets.stac.breaker)).toBe(true);
  });

  const numbers = [
    'maxRetries',
    'initialBackoffMs',
    'maxBackoffMs',
    'minBackoffMs',
    'backoffMultiplier',
    'callTimeoutMs',
    'attemptTimeoutMs',
    'idleTimeoutMs',
  ] as const;
  const nonsense = [-1, Number.NaN, Infinity, -Infinity, '5', null, {}];

  it.each(numbers.flatMap((field) => nonsense.map((value) => [field, value] as const)))(
    'rejects %s: %s by name',
    (field, value) => {
      expect(() => definePolicy({ [field]: value })).toThrow(new RegExp(`^${field} `));
    },
  );

  it.each<[string, Partial<ResiliencePolicy>, RegExp]>([
    ['a fraction of a retry', { maxRetries: 1.5 }, /^maxRetries must be a whole number, got 1.5/],
    ['shrinking waits', { backoffMultiplier: 0.5 }, /^backoffMultiplier must be at least 1/],
    [
      'a start above the cap',
      { initialBackoffMs: 9, maxBackoffMs: 5 },
      /^initialBackoffMs is above maxBackoffMs \(5\), got 9/,
    ],
    ['a floor above the start', { minBackoffMs: 2000 }, /^minBackoffMs is above initialBackoffMs/],
    [
      'an attempt longer than its call',
      { callTimeoutMs: 5, attemptTimeoutMs: 6 },
      /^attemptTimeoutMs is above callTimeoutMs \(5\)/,
    ],
    [
      'silence longer than an attempt',
      { attemptTimeoutMs: 5, idleTimeoutMs: 6 },
      /^idleTimeoutMs is above attemptTimeoutMs/,
    ],
    ['a call that takes no time', { callTimeoutMs: 0 }, /^callTimeoutMs must be above 0/],
    ['a timer that cannot be held', { callTimeoutMs: 2 ** 31 }, /^callTimeoutMs must be at most/],
    ['scaling without jitter', { medianScale: 0.25 }, /^medianScale needs jitter: full/],
    ['no scale at all', { jitter: 'full', medianScale: 0 }, /^medianScale must be above 0/],
    [
      'unknown jitter',
      { jitter: 'decorrelated' as never },
      /^jitter must be none or full, got decorrelated/,
    ],
    [
      'an unknown rule',
      { rateLimit: { onLimit: 'ignore' } as never },
      /^rateLimit.onLimit must be surface or wait/,
    ],
    ['no rule', { rateLimit: null as never }, /^rateLimit.onLimit/],
    [
      'a wait without a number',
      { rateLimit: { onLimit: 'wait', withoutHint: 'backoff' } as never },
      /^rateLimit.maxWaitMs/,
    ],
    [
      'half a rule',
      { rateLimit: { onLimit: 'wait', maxWaitMs: 1 } as never },
      /^rateLimit.withoutHint/,
    ],
    ['a misspelt field', { maxRetrys: 3 } as never, /^maxRetrys is not a field of a policy/],
    [
      'an empty budget',
      { budget: { capacity: 0, perSuccess: 1, perSecond: 0 } },
      /^budget.capacity must be above 0/,
    ],
    ['no policy', 7 as never, /^policy must be an object/],
  ])('rejects %s', (_, options, message) => {
    expect(() => definePolicy(options)).toThrow(message);
  });
});

describe('layers reject invalid numbers by name', () => {
  const keyOf = (input: string): string => input;
  it.each<[string, () => unknown, RegExp]>([
    ['deadline', () => deadline(0), /^deadline must be above 0/],
    ['deadline', () => deadline(Number.NaN), /^deadline must be a finite number, got NaN/],
    ['attemptTimeout', () => attemptTimeout(-1), /^attemptTimeout/],
    ['idle', () => idle(Infinity), /^idle/],
    ['retry', () => retry({ maxRetries: -1 }), /^maxRetries/],
    ['budget', () => budget({ perSuccess: -1 }), /^budget.perSuccess/],
    ['breaker', () => breaker({ failureShare: 1.1 }), /^breaker.failureShare must be at most 1/],
    [
      'breaker',
      () => breaker({ openMs: 100, maxOpenMs: 50 }),
      /^breaker.maxOpenMs must be at least 100/,
    ],
    ['hedge', () => hedge({ quantile: 0 }), /^hedge.quantile/],
    ['bulkhead', () => bulkhead({ limit: 0 }), /^bulkhead.limit/],
    ['bulkhead', () => bulkhead({ limit: 1, queue: 0.5 }), /^bulkhead.queue/],
    ['cache', () => cache({ keyOf, ttlMs: 0, maxEntries: 1 }), /^cache.ttlMs/],
    ['cache', () => cache({ keyOf, ttlMs: 1, maxEntries: 0 }), /^cache.maxEntries/],
    ['health', () => health({ samples: 0 }), /^health.samples must be at least 1/],
    ['health', () => health({ recent: 0 }), /^health.recent/],
    ['health', () => health({ coldMedianMs: Number.NaN }), /^health.coldMedianMs/],
    [
      'clocks',
      () => compose([deadline(100), attemptTimeout(5000)], { effect: 'read' }),
      /^attemptTimeout is above deadline \(100\), got 5000/,
    ],
    [
      'clocks',
      () => compose([deadline(100), idle(9000)], { effect: 'read' }),
      /^idle is above deadline/,
    ],
    [
      'hedge',
      () => compose([hedge(), retry()], { effect: 'read' }),
      /^hedge needs the health layer/,
    ],
    [
      'hedge',
      () => compose([hedge(), health()], { effect: 'read' }),
      /^hedge needs the retry layer/,
    ],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(message);
  });
});
