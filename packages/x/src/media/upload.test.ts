import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { statusDelayMs } from './upload.js';

describe('the delay before a status request', () => {
  it('grows exponentially', () => {
    const waits = Array.from({ length: 7 }, (_, look) => statusDelayMs(look, 0));
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
  });

  it('is never shorter than X asks for', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 2000 }),
        fc.option(fc.double({ noNaN: true }), { nil: undefined }),
        (look, secs) => {
          const waitMs = statusDelayMs(look, secs);
          expect(waitMs).toBeGreaterThanOrEqual(Math.max(250, (secs ?? 0) * 1000));
          expect(waitMs).toBeGreaterThanOrEqual(statusDelayMs(Math.max(0, look - 1), secs));
        },
      ),
    );
  });
});
