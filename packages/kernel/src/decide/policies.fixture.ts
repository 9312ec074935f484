import fc from 'fast-check';
import { definePolicy, type ResiliencePolicy } from './policy.js';

const ms = (max: number): fc.Arbitrary<number> => fc.double({ min: 0, max, noNaN: true });

/** Any policy that `definePolicy` accepts. */
export const policies: fc.Arbitrary<ResiliencePolicy> = fc
  .record({
    maxRetries: fc.nat(10),
    backoffs: fc.tuple(ms(1e5), ms(1e5), ms(1e5)).map((three) => three.toSorted((a, b) => a - b)),
    backoffMultiplier: fc.double({ min: 1, max: 10, noNaN: true }),
    jitter: fc.constantFrom('none', 'full'),
    medianScale: fc.option(fc.double({ min: 0.01, max: 5, noNaN: true }), { nil: undefined }),
    rateLimit: fc.oneof(
      fc.constant({ onLimit: 'surface' } as const),
      fc.record({
        onLimit: fc.constant('wait' as const),
        maxWaitMs: ms(1e6),
        withoutHint: fc.constantFrom('backoff', 'surface'),
      }),
    ),
  })
  .map(({ backoffs, medianScale, jitter, ...rest }) =>
    definePolicy({
      ...rest,
      jitter,
      minBackoffMs: backoffs[0]!,
      initialBackoffMs: backoffs[1]!,
      maxBackoffMs: backoffs[2]!,
      ...(medianScale === undefined || jitter === 'none' ? {} : { medianScale }),
    }),
  );
