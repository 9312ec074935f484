import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { XProblem } from '../problems.js';
import { pageOf, positionFrom, tokenOf } from './replies.js';

const items = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: String(10_000 - at * 7) }));

describe('pages', () => {
  test('contain every item once', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 20 }), (count, size) => {
        const all = items(count);
        const pages = [pageOf(all, size, { at: '' })];
        for (let next = pages[0]?.next; next; next = pages.at(-1)?.next)
          pages.push(pageOf(all, size, next));
        expect(pages.flatMap((page) => page.items)).toEqual(all);
        expect(pages).toHaveLength(Math.max(1, Math.ceil(count / size)));
      }),
    );
  });

  test('do not shift when newer items arrive', () => {
    const all = items(30);
    const next = { at: pageOf(all, 10, { at: '' }).next?.at ?? '' };
    const more = [{ id: '10001' }, ...all];
    expect(pageOf(more, 10, next)).toMatchObject({ items: pageOf(all, 10, next).items });
  });
});

describe('tokens', () => {
  test('are valid only for their list', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 9_999_999_999_999_999_999n }).map(String),
        fc.nat(1000),
        (at, nonce) => {
          const place = { at, nonce };
          const token = tokenOf(place, 'followers 7');
          expect(positionFrom(token, 'pagination_token', 'followers 7')).toEqual(place);
          expect(token).toMatch(/^[0-9a-f]{16,}$/);
          expect(() => positionFrom(token, 'pagination_token', 'followers 8')).toThrow(XProblem);
        },
      ),
    );
  });

  test('that were not issued are rejected', () => {
    const token = tokenOf({ at: '12345' }, 'list');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.nat(token.length - 1)), (change) => {
        const changed =
          typeof change === 'string'
            ? change
            : token.slice(0, change) +
              (token[change] === '0' ? '1' : '0') +
              token.slice(change + 1);
        fc.pre(changed !== token);
        expect(() => positionFrom(changed, 'pagination_token', 'list')).toThrow(XProblem);
      }),
    );
  });
});
