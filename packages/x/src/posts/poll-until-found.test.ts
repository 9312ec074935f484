import type { Reconciliation } from '@toolkeel/contract';
import { FaultError, type Fault, type FaultKind } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pauseAfter, pollUntilFound } from './poll-until-found.js';

const found = { found: 'executed', data: 'it' } as const;
const absent = { found: 'absent' } as const;
const fault = (kind: FaultKind, more: Partial<Fault> = {}): Fault => ({
  kind,
  sent: 'answered',
  ...more,
});

/** The results or faults of consecutive reads. The last one is repeated. */
async function watching(looks: readonly (Fault | Reconciliation<string>)[], ms = 8_000) {
  const clock = new VirtualClock();
  const times: number[] = [];
  const look = async (): Promise<Reconciliation<string>> => {
    const now = looks[Math.min(times.length, looks.length - 1)]!;
    times.push(clock.now());
    if ('kind' in now) throw new FaultError(now);
    return now;
  };
  const end = pollUntilFound(clock, new AbortController().signal, ms, look).catch(
    (cause: unknown) => (cause as FaultError).fault,
  );
  return { end: await clock.run(end), times, at: clock.now() };
}

describe('polling for a post', () => {
  it('waits longer after a rate limit without a time', async () => {
    const { times } = await watching([fault('rate_limited', { status: 429 })]);
    expect(times).toEqual([0, 4_000]);
  });

  it.each([
    ['an answer that cannot be read', [fault('bad_response')]],
    ['a login that was refused once', [fault('auth', { status: 401 })]],
    ['three failures', Array.from({ length: 3 }, () => fault('server', { status: 503 }))],
    ['a broken connection', [fault('network'), fault('connect'), fault('timeout')]],
    ['a full house', [fault('overloaded', { sent: 'no' })]],
    ['no answer in sight', [absent, fault('server'), { found: 'unknown' } as const]],
  ])('continues after %s', async (_, before) => {
    expect(await watching([...before, found])).toMatchObject({ end: found });
  });

  it.each(['circuit_open', 'rate_limited', 'server'] as const)(
    'waits as long as %s asks for, if the time allows',
    async (kind) => {
      const { end, times } = await watching([fault(kind, { retryAfterMs: 1_234 }), found]);
      expect({ end, times }).toEqual({ end: found, times: [0, 1_234] });
    },
  );

  it('retries an open circuit earlier, because a probe may close it', async () => {
    const { end, times } = await watching(
      [fault('circuit_open', { retryAfterMs: 2_000 }), found],
      900,
    );
    expect({ end, times }).toEqual({ end: found, times: [0, 250] });
  });

  it.each([
    ['nothing is configured, or X forbids it', fault('rejected', { status: 403 })],
    ['the login is over', fault('auth', { final: true })],
    ['the amount of a month is used up', fault('rate_limited', { final: true })],
    ['a limit opens only afterwards', fault('rate_limited', { retryAfterMs: 8_000 })],
    ['the call is cancelled', fault('cancelled')],
    ['the fault is unexpected', fault('unexpected')],
  ])('ends at once if %s', async (_, one) => {
    expect(await watching([one, found])).toEqual({ end: one, times: [0], at: 0 });
  });

  it('gives up after a second consecutive auth fault', async () => {
    const refused = fault('auth', { status: 401 });
    expect(await watching([refused, refused, found])).toMatchObject({ end: refused, at: 250 });
    expect(await watching([refused, absent, refused, found])).toMatchObject({ end: found });
  });

  it('makes few requests and returns the last result', async () => {
    const down = fault('server', { status: 503 });
    for (const last of [down, absent, { found: 'unknown' } as const]) {
      const { end, times, at } = await watching([last]);
      expect(end).toEqual(last);
      expect(times.length).toBeLessThan(10);
      expect(at).toBeLessThanOrEqual(8_000);
      expect(at).toBeGreaterThan(5_000);
    }
  });

  it('never exceeds the deadline or undercuts the backoff or a rate limit', () => {
    const kinds: readonly FaultKind[] = [
      'server',
      'rate_limited',
      'circuit_open',
      'auth',
      'rejected',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.option(fc.nat(20_000), { nil: undefined }),
        fc.integer({ min: 1, max: 2_000 }),
        fc.integer({ min: -10, max: 10_000 }),
        (kind, retryAfterMs, waitMs, leftMs) => {
          const given = fault(kind, retryAfterMs === undefined ? {} : { retryAfterMs });
          const pauseMs = pauseAfter(given, undefined, waitMs, leftMs);
          if (pauseMs === undefined) return;
          expect(kind).not.toBe('rejected');
          expect(pauseMs).toBeLessThan(leftMs);
          expect(pauseMs).toBeGreaterThanOrEqual(waitMs);
          if (kind === 'rate_limited') expect(pauseMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
        },
      ),
    );
  });
});
