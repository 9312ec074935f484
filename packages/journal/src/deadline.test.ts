import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitDeadline } from './deadline.js';

describe('the deadline of a call', () => {
  it('is split: the handler ends before the answer, the answer before the deadline', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 600_000 }), (now, left) => {
        const { handlerBy, answerBy } = splitDeadline(now + left, now);
        expect(answerBy).toBeLessThanOrEqual(now + left);
        expect(handlerBy).toBeLessThanOrEqual(answerBy);
        // At least half of the time is the handler's.
        expect(handlerBy - now).toBeGreaterThanOrEqual(left / 2 - 1e-6);
      }),
    );
  });

  it('reserves 270 ms of a long call, and nothing of a call without a deadline', () => {
    expect(splitDeadline(60_000, 0)).toEqual({ handlerBy: 59_730, answerBy: 59_980 });
    expect(splitDeadline(Infinity, 0)).toEqual({ handlerBy: Infinity, answerBy: Infinity });
  });
});
