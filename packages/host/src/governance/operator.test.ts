import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilterError, operationFilter, readMoment } from './operator.js';

const now = Date.parse('2026-05-02T12:00:00Z');

describe('a filter', () => {
  it('is parsed from strings', () => {
    expect(
      operationFilter(
        {
          state: 'unknown,claimed',
          tool: 't',
          account: 'a',
          since: '2h',
          until: '2026-05-02',
          limit: '7',
        },
        now,
      ),
    ).toEqual({
      states: ['unknown', 'claimed'],
      tool: 't',
      account: 'a',
      since: now - 7_200_000,
      until: Date.parse('2026-05-02'),
      limit: 7,
    });
    expect(operationFilter({}, now)).toEqual({});
  });

  it.each([
    [{ state: 'unknown,done' }, 'no state "done"'],
    [{ state: '' }, 'no state ""'],
    [{ state: 'toString' }, 'no state "toString"'],
    [{ since: '2 hours' }, 'since must be a time'],
    [{ until: '2026-99-99' }, 'until must be a time'],
    [{ limit: '1.5' }, 'limit must be'],
    [{ limit: 1001 }, 'limit must be'],
  ])('rejects %j', (given, message) => {
    expect(() => operationFilter(given, now)).toThrow(message);
  });

  it('parses any string as a time or rejects it', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^\d{1,8}[mhd]?(-\d\d-\d\d)?/)),
        (text) => {
          try {
            expect(Number.isFinite(readMoment('since', text, now))).toBe(true);
          } catch (cause) {
            expect(cause).toBeInstanceOf(FilterError);
          }
        },
      ),
    );
  });
});
