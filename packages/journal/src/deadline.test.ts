import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitDeadline } from './deadline.js';

describe('the time of a call', () => {
  it('is shared out: the handler ends before the answer, the answer before the deadline', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 600_000 }), (now, left) => {
        const { handlerBy, answerBy } = splitDeadline(now + left, now);
        expect(answerBy).toBeLessThanOrEqual(now + left);
        expect(handlerBy).toBeLessThanOrEqual(answerBy);
        // Most of it is the handler's, however little there is.
        expect(handlerBy - now).toBeGreaterThanOrEqual(left / 2 - 1e-6);
      }),
    );
  });

  it('leaves a long call all but a quarter of a second, and one without an end all of it', () => {
    expect(splitDeadline(60_000, 0)).toEqual({ handlerBy: 59_730, answerBy: 59_980 });
    expect(splitDeadline(Infinity, 0)).toEqual({ handlerBy: Infinity, answerBy: Infinity });
  });
});
