import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculateRateLimitDelay } from '../decide/rate-limit.js';
import { parseServerHints } from './parse-server-hints.js';
import { MAX_PLAUSIBLE_WAIT_MS } from './numbers.js';

const day = MAX_PLAUSIBLE_WAIT_MS / 1000;
const now = fc.integer({ min: 1_000_000_000, max: 4_000_000_000 }).map((s) => s * 1000);

interface Scene {
  readonly remaining: number;
  readonly resetIn: number;
  readonly prefix: string;
}
const window = fc.record<Scene>({
  remaining: fc.oneof(fc.constant(0), fc.nat(5000)),
  resetIn: fc.oneof(fc.integer({ min: -day, max: day }), fc.integer({ min: -1e9, max: 1e9 })),
  prefix: fc.constantFrom(
    'x-ratelimit',
    'x-rate-limit',
    'x-app-limit-24hour',
    'x-user-limit-24hour',
  ),
});
const scenes = fc.uniqueArray(window, { maxLength: 4, selector: (scene) => scene.prefix });
const status = fc.constantFrom(200, 403, 404, 429, 500, 503);

function headersOf(list: readonly Scene[], at: number): Record<string, string> {
  return Object.fromEntries(
    list.flatMap(({ prefix, remaining, resetIn }) => [
      [`${prefix}-limit`, '5000'],
      [`${prefix}-remaining`, String(remaining)],
      [`${prefix}-reset`, String(at / 1000 + resetIn)],
    ]),
  );
}

describe('parseServerHints', () => {
  it('returns exactly the latest plausible reset of an exhausted window, or no delay', () => {
    fc.assert(
      fc.property(scenes, status, now, (list, code, at) => {
        const hints = parseServerHints({ status: code, headers: headersOf(list, at) }, at);
        const resets = list
          .filter(({ remaining, resetIn }) => remaining === 0 && resetIn > 0 && resetIn <= day)
          .map(({ resetIn }) => resetIn * 1000);
        expect(hints.retryAfterMs).toBe(resets.length === 0 ? undefined : Math.max(...resets));
        expect(hints.limits).toHaveLength(list.filter((s) => Math.abs(s.resetIn) <= day).length);
      }),
    );
  });

  it('is invariant under a shift of all times', () => {
    fc.assert(
      fc.property(scenes, status, now, now, (list, code, at, later) => {
        const first = parseServerHints({ status: code, headers: headersOf(list, at) }, at);
        const second = parseServerHints({ status: code, headers: headersOf(list, later) }, later);
        expect(second.retryAfterMs).toBe(first.retryAfterMs);
        const shift = (later - at) / 1000;
        expect(second.limits).toEqual(first.limits.map((l) => ({ ...l, reset: l.reset + shift })));
      }),
    );
  });

  it('prefers Retry-After over everything else', () => {
    fc.assert(
      fc.property(
        scenes,
        status,
        now,
        fc.nat(day),
        fc.nat(1e6),
        fc.boolean(),
        (list, code, at, wait, ms, asDate) => {
          const value = asDate ? new Date(at + wait * 1000).toUTCString() : String(wait);
          const headers = {
            ...headersOf(list, at),
            'retry-after': value,
            'retry-after-ms': String(ms),
          };
          const body = {
            error: { details: [{ '@type': 'x/google.rpc.RetryInfo', retryDelay: `${ms}s` }] },
          };
          expect(parseServerHints({ status: code, headers, body }, at).retryAfterMs).toBe(
            wait * 1000,
          );
        },
      ),
    );
  });

  it('is independent of clock skew if the response has a Date', () => {
    fc.assert(
      fc.property(
        scenes,
        status,
        now,
        fc.integer({ min: -80_000, max: 80_000 }),
        (list, code, at, skew) => {
          const headers = { ...headersOf(list, at), date: new Date(at).toUTCString() };
          const skewed = at + skew * 1000;
          const hints = parseServerHints({ status: code, headers }, skewed);
          const exact = parseServerHints({ status: code, headers }, at);
          if (Math.abs(skew) > 5) expect(hints.retryAfterMs).toBe(exact.retryAfterMs);
          for (const { reset, remaining } of hints.limits) {
            const delay = calculateRateLimitDelay(reset, skewed);
            if (remaining === 0 && delay > 0)
              expect(delay).toBeLessThanOrEqual(hints.retryAfterMs ?? -1);
          }
        },
      ),
    );
  });

  it('reads all kinds of headers objects alike', () => {
    fc.assert(
      fc.property(scenes, now, (list, at) => {
        const fields = headersOf(list, at);
        const expected = parseServerHints({ status: 429, headers: fields }, at);
        const upper = Object.fromEntries(
          Object.entries(fields).map(([k, v]) => [k.toUpperCase(), [v]]),
        );
        const containers = [
          new Headers(fields),
          new Map(Object.entries(fields)),
          Object.entries(fields),
          Object.entries(fields).flat(),
          upper,
        ];
        for (const headers of containers)
          expect(parseServerHints({ status: 429, headers }, at)).toEqual(expected);
      }),
    );
  });
});
