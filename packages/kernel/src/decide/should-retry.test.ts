import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Effect, Fault, FaultKind, Sent } from '../fault.js';
import { presets } from '../presets.js';
import { fault } from '../testing/index.js';
import { calculateBackoff } from './backoff.js';
import { policies } from './policies.fixture.js';
import { definePolicy } from './policy.js';
import { shouldRetry, type RetryContext } from './should-retry.js';

const kinds: readonly FaultKind[] = [
  'connect',
  'network',
  'timeout',
  'rate_limited',
  'server',
  'auth',
  'rejected',
  'bad_response',
  'cancelled',
  'circuit_open',
  'overloaded',
  'unexpected',
];
const effects: readonly Effect[] = ['read', 'idempotent', 'once'];
const now = 1_700_000_000_000;

const faults: fc.Arbitrary<Fault> = fc
  .record(
    {
      kind: fc.constantFrom(...kinds),
      sent: fc.constantFrom<Sent>('no', 'maybe', 'answered'),
      status: fc.integer({ min: 100, max: 599 }),
      clock: fc.constantFrom('deadline', 'attempt', 'idle'),
      retryAfterMs: fc.double({ min: 0, max: 1e7, noNaN: true }),
      final: fc.boolean(),
      limits: fc.array(
        fc.record({
          limit: fc.nat(),
          remaining: fc.nat(3),
          reset: fc.integer({ min: now / 1000 - 100, max: now / 1000 + 9999 }),
        }),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ['kind', 'sent'] },
  )
  .map((record) => record as Fault);

const contexts: fc.Arbitrary<RetryContext> = fc
  .record(
    {
      effect: fc.constantFrom(...effects),
      retryUnsent: fc.boolean(),
      deadline: fc.integer({ min: now - 1000, max: now + 200_000 }),
      observedMedianMs: fc.double({ min: 0, max: 1e5, noNaN: true }),
      draw: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    },
    { requiredKeys: ['draw'] },
  )
  .map(({ draw, ...rest }) => ({ ...rest, now, random: () => draw }));

describe('shouldRetry, for any input', () => {
  const always = (
    claim: (
      fault: Fault,
      attempt: number,
      policy: ReturnType<typeof definePolicy>,
      context: RetryContext,
    ) => void,
  ): void => {
    fc.assert(fc.property(faults, fc.nat(12), policies, contexts, claim), { numRuns: 500 });
  };

  it('never returns a negative or unbounded delay', () => {
    always((fault, attempt, policy, context) => {
      const decision = shouldRetry(fault, attempt, policy, context);
      if (!decision.retry) return;
      const longest = policy.rateLimit.onLimit === 'wait' ? policy.rateLimit.maxWaitMs : 0;
      expect(decision.afterMs).toBeGreaterThanOrEqual(0);
      expect(decision.afterMs).toBeLessThanOrEqual(Math.max(policy.maxBackoffMs, longest));
    });
  });

  it('never allows more than maxRetries retries', () => {
    always((fault, attempt, policy, context) => {
      if (attempt >= policy.maxRetries) {
        expect(shouldRetry(fault, attempt, policy, context).retry).toBe(false);
      }
    });
  });

  it('never resends a once call that may have been sent, except after a rate limit', () => {
    always((fault, attempt, policy, context) => {
      if (fault.kind === 'rate_limited' || fault.sent === 'no') return;
      expect(shouldRetry(fault, attempt, policy, { ...context, effect: 'once' }).retry).toBe(false);
    });
  });

  it('never resends an unsent once call without retryUnsent', () => {
    always((fault, attempt, policy, context) => {
      if (fault.kind === 'rate_limited') return;
      const once = { ...context, effect: 'once', retryUnsent: false } as const;
      expect(shouldRetry(fault, attempt, policy, once).retry).toBe(false);
    });
  });

  it('never returns a delay that would pass the deadline', () => {
    always((fault, attempt, policy, context) => {
      const decision = shouldRetry(fault, attempt, policy, context);
      if (decision.retry && context.deadline !== undefined) {
        expect(now + decision.afterMs).toBeLessThan(context.deadline);
      }
    });
  });

  it('never waits less than the upstream asked for', () => {
    always((fault, attempt, policy, context) => {
      const decision = shouldRetry(fault, attempt, policy, context);
      if (decision.retry) expect(decision.afterMs).toBeGreaterThanOrEqual(fault.retryAfterMs ?? 0);
    });
  });

  it('never retries permanent faults', () => {
    const hopeless: readonly FaultKind[] = [
      'auth',
      'rejected',
      'bad_response',
      'cancelled',
      'circuit_open',
      'overloaded',
      'unexpected',
    ];
    always((fault, attempt, policy, context) => {
      if (hopeless.includes(fault.kind) || fault.final) {
        expect(shouldRetry(fault, attempt, policy, context).retry).toBe(false);
      }
    });
  });

  it('is deterministic', () => {
    always((fault, attempt, policy, context) => {
      expect(shouldRetry(fault, attempt, policy, context)).toEqual(
        shouldRetry(fault, attempt, policy, context),
      );
    });
  });
});

describe('which faults are retried', () => {
  const policy = definePolicy();
  const decide = (fault: Fault, effect: Effect, retryUnsent = false): string => {
    const decision = shouldRetry(fault, 0, policy, { effect, retryUnsent, now });
    return decision.retry ? 'retry' : decision.reason;
  };

  it.each<[string, Fault, string, string, string]>([
    // fault                                              read      idempotent  once
    ['refused before any byte', fault('connect'), 'retry', 'retry', 'not_opted_in'],
    ['reset after sending', fault('network'), 'retry', 'retry', 'may_have_acted'],
    ['reset, surely unsent', fault('network', { sent: 'no' }), 'retry', 'retry', 'not_opted_in'],
    ['attempt timeout', fault('timeout', { clock: 'attempt' }), 'retry', 'retry', 'may_have_acted'],
    ['idle timeout', fault('timeout', { clock: 'idle' }), 'retry', 'retry', 'may_have_acted'],
    [
      'the deadline itself',
      fault('timeout', { clock: 'deadline' }),
      'deadline',
      'deadline',
      'deadline',
    ],
    ['500', fault('server', { status: 500 }), 'retry', 'retry', 'may_have_acted'],
    ['502', fault('server', { status: 502 }), 'retry', 'retry', 'may_have_acted'],
    ['503', fault('server', { status: 503 }), 'retry', 'retry', 'may_have_acted'],
    ['504', fault('server', { status: 504 }), 'retry', 'retry', 'may_have_acted'],
    ['501', fault('server', { status: 501 }), 'permanent', 'permanent', 'permanent'],
    ['505', fault('server', { status: 505 }), 'permanent', 'permanent', 'permanent'],
    ['429', fault('rate_limited'), 'retry', 'retry', 'retry'],
    [
      'a day’s quota',
      fault('rate_limited', { final: true }),
      'permanent',
      'permanent',
      'permanent',
    ],
    ['401', fault('auth'), 'permanent', 'permanent', 'permanent'],
    ['400', fault('rejected', { status: 400 }), 'permanent', 'permanent', 'permanent'],
    ['404', fault('rejected', { status: 404 }), 'permanent', 'permanent', 'permanent'],
    ['422', fault('rejected', { status: 422 }), 'permanent', 'permanent', 'permanent'],
    ['unreadable', fault('bad_response'), 'permanent', 'permanent', 'permanent'],
    ['an open circuit', fault('circuit_open'), 'circuit_open', 'circuit_open', 'circuit_open'],
    ['a cancelled call', fault('cancelled'), 'cancelled', 'cancelled', 'cancelled'],
  ])('%s', (_, fault, read, idempotent, once) => {
    expect(effects.map((effect) => decide(fault, effect))).toEqual([read, idempotent, once]);
  });

  it('resends an unsent once call with retryUnsent', () => {
    expect(decide(fault('connect'), 'once', true)).toBe('retry');
    expect(decide(fault('network'), 'once', true)).toBe('may_have_acted');
  });
});

describe('rate limits under the presets', () => {
  const meet = (
    preset: keyof typeof presets,
    more: Partial<Fault> = {},
    deadlineMs = 300_000,
  ): unknown => {
    const decision = shouldRetry(fault('rate_limited', more), 0, presets[preset], {
      now,
      deadline: now + deadlineMs,
      random: () => 0.5,
    });
    return decision.retry ? decision.afterMs : decision.reason;
  };

  it('social: surfaced, with or without a hint', () => {
    expect(meet('social')).toBe('limit_surfaced');
    expect(meet('social', { retryAfterMs: 1 })).toBe('limit_surfaced');
  });

  it('stac: waits up to 5 s, surfaces longer hints, backs off without a hint', () => {
    expect(meet('stac', { retryAfterMs: 5000 })).toBe(5000);
    expect(meet('stac', { retryAfterMs: 5001 })).toBe('hint_too_long');
    expect(meet('stac')).toBe(200);
  });

  it('github: waits for a reset within 60 s and the deadline', () => {
    const reset = (seconds: number): Partial<Fault> => ({
      limits: [{ limit: 5000, remaining: 0, reset: now / 1000 + seconds }],
    });
    expect(meet('github', reset(60))).toBe(60_000);
    expect(meet('github', reset(61))).toBe('hint_too_long');
    expect(meet('github', reset(50), 55_000)).toBe(50_000);
    expect(meet('github', reset(55), 55_000)).toBe('deadline');
    expect(meet('github', { retryAfterMs: 30_000, ...reset(50) })).toBe(30_000);
    expect(meet('github')).toBe(1000);
  });

  it('github: waits for the latest reset of several exhausted windows', () => {
    const limits = [10, 40, 20].map((seconds) => ({
      limit: 1,
      remaining: 0,
      reset: now / 1000 + seconds,
    }));
    expect(meet('github', { limits })).toBe(40_000);
    expect(meet('github', { limits: limits.map((limit) => ({ ...limit, remaining: 1 })) })).toBe(
      1000,
    );
  });

  it('llm: the hint first, else 2 to 30 s; a day’s quota is final', () => {
    expect(meet('llm', { retryAfterMs: 34_075 })).toBe(34_075);
    expect(meet('llm')).toBe(3000);
    expect(meet('llm', { retryAfterMs: 34_075, final: true })).toBe('permanent');
  });

  it('guard: waits for a hint that fits, otherwise surfaced', () => {
    expect(meet('guard', { retryAfterMs: 7000 })).toBe(7000);
    expect(meet('guard')).toBe('limit_surfaced');
  });

  it('backs off when the reset has already passed', () => {
    expect(meet('github', { retryAfterMs: 0 })).toBe(1000);
  });
});

describe('a server fault with Retry-After', () => {
  it('waits for the longer of hint and backoff', () => {
    const policy = definePolicy({ initialBackoffMs: 1000 });
    const wait = (retryAfterMs: number): unknown =>
      shouldRetry(fault('server', { retryAfterMs }), 0, policy, { now });
    expect(wait(3000)).toEqual({ retry: true, afterMs: 3000 });
    expect(wait(10)).toEqual({ retry: true, afterMs: 1000 });
    expect(wait(61_000)).toEqual({ retry: false, reason: 'hint_too_long' });
  });
});

describe('llm delays', () => {
  it('lie between 2 and 30 s, and differ', () => {
    const seen = new Set<number>();
    for (let attempt = 0; attempt < 2; attempt++) {
      for (const draw of [0, 0.3, 0.6, 0.999]) {
        const decision = shouldRetry(fault('server'), attempt, presets.llm, {
          now,
          random: () => draw,
        });
        if (!decision.retry) throw new Error('expected a retry');
        expect(decision.afterMs).toBeGreaterThanOrEqual(2000);
        expect(decision.afterMs).toBeLessThanOrEqual(30_000);
        seen.add(decision.afterMs);
      }
    }
    expect(seen.size).toBe(7);
    expect(calculateBackoff(99, presets.llm)).toBe(30_000);
  });
});
