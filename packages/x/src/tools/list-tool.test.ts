import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PageResult } from '../api/provider.js';
import { fetchPage } from './list-tool.js';
import type { PageCursor } from './specs/common.js';

interface Item {
  readonly id: string;
}

/** An X with `count` items, whose pages can be shorter than requested. */
function upstreamOf(count: number, shortBy: (start: number) => number) {
  const items = Array.from({ length: count }, (_, index) => ({ id: String(index + 1) }));
  return async (query: {
    maxResults: number;
    paginationToken?: string | undefined;
  }): Promise<PageResult<Item>> => {
    const start = Number(query.paginationToken ?? 0);
    const size = Math.max(1, query.maxResults - shortBy(start));
    const end = Math.min(count, start + size);
    return {
      items: items.slice(start, end),
      nextToken: end < count ? String(end) : undefined,
      partialErrors: [],
      limits: [],
    };
  };
}

describe('fetchPage', () => {
  it('returns every item once and in order, for any page sizes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 60 }),
        fc.integer({ min: 1, max: 10 }),
        fc.array(
          fc.record({ wanted: fc.integer({ min: 1, max: 20 }), keep: fc.nat({ max: 20 }) }),
          {
            minLength: 1,
            maxLength: 20,
          },
        ),
        fc.nat({ max: 3 }),
        async (count, minimum, asks, short) => {
          const fetch = upstreamOf(count, (start) => (start % 3 === 0 ? short : 0));
          const seen: string[] = [];
          let cursor: PageCursor | undefined;
          for (let call = 0; call < 200; call++) {
            const { wanted, keep } = asks[call % asks.length]!;
            const shown = await fetchPage(fetch, { max_results: wanted, minimum }, cursor);
            expect(shown.items.length).toBeLessThanOrEqual(wanted);
            const isCut = keep > 0 && keep < shown.items.length;
            const kept = isCut ? keep : shown.items.length;
            seen.push(...shown.items.slice(0, kept).map(({ id }) => id));
            cursor = isCut ? shown.after(kept) : shown.next;
            if (cursor === undefined) break;
          }
          expect(seen).toEqual(Array.from({ length: count }, (_, index) => String(index + 1)));
        },
      ),
    );
  });

  it('repeats a page if the item that it was cut at is gone', async () => {
    const fetch = upstreamOf(3, () => 0);
    const shown = await fetchPage(fetch, { max_results: 3 }, { after: '99', n: 3 });
    expect(shown.items.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  /** Follows the pages to the end, at most `calls` times. */
  const turnAll = async (
    fetch: Parameters<typeof fetchPage<Item>>[0],
    { wanted = 10, calls = 200 } = {},
  ) => {
    const reasons: string[] = [];
    let cursor: PageCursor | undefined;
    for (let call = 1; call <= calls; call++) {
      const shown = await fetchPage(fetch, { max_results: wanted }, cursor);
      reasons.push(...shown.partialErrors.map(({ reason }) => reason));
      cursor = shown.next;
      if (cursor === undefined) return { call, reasons };
    }
    return { call: Infinity, reasons };
  };
  const page = (ids: readonly string[], nextToken: string): PageResult<Item> => ({
    items: ids.map((id) => ({ id })),
    nextToken,
    partialErrors: [],
    limits: [],
  });

  it.each([
    ['a token leads to itself', (asked: number) => page([String(asked)], 'same'), 2],
    ['tokens lead in a circle', (asked: number) => page([String(asked)], 'abc'[asked % 3]!), 4],
    ['the same page has ever new tokens', (asked: number) => page(['1', '2'], `t${asked}`), 2],
    [
      'a few pages have ever new tokens',
      (asked: number) => page([`${asked % 4}`, 'x'], `t${asked}`),
      5,
    ],
    ['there are empty pages without end', (asked: number) => page([], `t${asked}`), 10],
  ])('ends and reports why if %s', async (_, give, expected) => {
    let asked = -1;
    const turned = await turnAll(async () => give((asked += 1)));
    expect(turned).toEqual({ call: expected, reasons: ['pages_repeat'] });
  });

  it('detects a cycle of cut pages', async () => {
    let asked = -1;
    const fetch = async ({ paginationToken = 'a' }) => {
      asked += 1;
      return page(
        ['1', '2', '3'].map((id) => paginationToken + id),
        paginationToken === 'a' ? 'b' : 'a',
      );
    };
    // Two pages of three items each, two at a time, and the first one has no token yet.
    expect(await turnAll(fetch, { wanted: 2 })).toEqual({
      call: expect.any(Number) as number,
      reasons: ['pages_repeat'],
    });
    expect(asked).toBeLessThan(12);
  });

  it('continues after an empty page and through long lists', async () => {
    const items = (asked: number) => (asked % 3 === 1 ? [] : [String(asked)]);
    let asked = -1;
    const turned = await turnAll(async () => {
      asked += 1;
      return { ...page(items(asked), `t${asked}`), ...(asked === 150 && { nextToken: undefined }) };
    });
    expect(turned).toEqual({ call: 151, reasons: [] });
  });
});
