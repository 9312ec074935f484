import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Page } from '../provider/provider.js';
import { fetchPage } from './page-of.js';
import type { PageCursor } from './specs/paging.js';

interface Item {
  readonly id: string;
}

/** X with so many items, in pages of its own; some of them are shorter than asked for. */
function upstreamOf(count: number, shortBy: (start: number) => number) {
  const items = Array.from({ length: count }, (_, index) => ({ id: String(index + 1) }));
  return async (query: {
    maxResults: number;
    paginationToken?: string | undefined;
  }): Promise<Page<Item>> => {
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
  it('shows every item once and in order, whatever sizes are asked for and kept', async () => {
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
        async (count, least, asks, short) => {
          const fetch = upstreamOf(count, (start) => (start % 3 === 0 ? short : 0));
          const seen: string[] = [];
          let cursor: PageCursor | undefined;
          for (let call = 0; call < 200; call++) {
            const { wanted, keep } = asks[call % asks.length]!;
            const shown = await fetchPage(fetch, { max_results: wanted, least }, cursor);
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

  it('shows a page again when the item that it was cut at is gone', async () => {
    const fetch = upstreamOf(3, () => 0);
    const shown = await fetchPage(fetch, { max_results: 3 }, { after: '99', n: 3 });
    expect(shown.items.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });
});
