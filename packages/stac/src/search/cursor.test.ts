import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  appendToTrail,
  cursorSchema,
  isRepeatedPage,
  packCursor,
  unpackCursor,
  type PageTrail,
} from './cursor.js';
import { limitOf, nextRequest, requestDigest, withLimit, type PageRequest } from './page.js';

const at = new URL('https://a.example/v1/search?limit=2');
const posted: PageRequest = { method: 'POST', url: at, body: { collections: ['a'], limit: 2 } };
const next = (link: Record<string, unknown>, current = posted) =>
  nextRequest({ links: [{ rel: 'next', ...link }] }, at, current);

describe('nextRequest', () => {
  it('uses a GET link unchanged', () => {
    expect(next({ href: '?limit=2&token=a%0Ab' })).toMatchObject({ method: 'GET' });
    expect(next({ href: '?limit=2&token=a%0Ab' })?.url.href).toBe(
      'https://a.example/v1/search?limit=2&token=a%0Ab',
    );
  });

  it('sends only the body of the link without merge', () => {
    const link = { href: './search', method: 'POST', body: { token: 't' } };
    expect(next(link)?.body).toEqual({ token: 't' });
    expect(next({ ...link, merge: false })?.body).toEqual({ token: 't' });
  });

  it('merges body and headers with merge', () => {
    const link = {
      href: './search',
      method: 'POST',
      merge: true,
      body: { token: 't', limit: 3 },
      headers: { 'X-Page': '2' },
    };
    const current = { ...posted, headers: { 'x-one': '1' } };
    expect(next(link, current)).toMatchObject({
      body: { collections: ['a'], limit: 3, token: 't' },
      headers: { 'x-one': '1', 'x-page': '2' },
    });
  });

  it('reuses the body of the current request if the link has none', () => {
    expect(next({ href: '/v1/search?next=x', method: 'POST' })?.body).toEqual(posted.body);
  });

  it('drops credentials and reserved headers', () => {
    const headers = {
      Authorization: 'Bearer x',
      'X-Api-Key': 'k',
      Cookie: 'c',
      Host: 'evil',
      'Content-Length': '5',
      'bad name': 'x',
      'x-split': 'a\r\nb: c',
      'x-page': '2',
    };
    expect(next({ href: 'x', headers })?.headers).toEqual({ 'x-page': '2' });
  });

  it('is undefined without a link', () => {
    expect(nextRequest({ links: [] }, at, posted)).toBeUndefined();
  });
});

describe('page requests and cursors', () => {
  it('reads and replaces the limit', () => {
    const get: PageRequest = { method: 'GET', url: at };
    expect([limitOf(posted), limitOf(get)]).toEqual([2, 2]);
    expect(limitOf(withLimit(posted, 1))).toBe(1);
    expect(limitOf(withLimit(get, 1))).toBe(1);
    expect(limitOf({ method: 'POST', url: at, body: {} })).toBeUndefined();
    expect(requestDigest(withLimit(get, 1))).not.toBe(requestDigest(get));
    expect(requestDigest(get)).toHaveLength(8);
  });

  it('round-trip through a cursor', () => {
    const body = fc.dictionary(
      fc.constantFrom('a', 'b', 'token', 'intersects'),
      fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value))),
    );
    const params = fc.array(
      fc.tuple(
        fc.constantFrom('a', 'b', 'token'),
        fc.string({ maxLength: 400 }).filter((text) => !/\p{Cs}/u.test(text)),
      ),
    );
    fc.assert(
      fc.property(
        body,
        body,
        params,
        params,
        fc.constantFrom('GET', 'POST'),
        (one, two, p, q, method) => {
          const url = (list: [string, string][]) =>
            new URL(`https://a.example/s?${new URLSearchParams(list).toString()}`);
          const first: PageRequest = { method: 'POST', url: url(p), body: one };
          const request = {
            method,
            url: url(q),
            ...(method === 'POST' && { body: two }),
          } as PageRequest;
          const cursor = packCursor(request, first, { seen: ['x'], skip: 3 });
          expect(cursorSchema.safeParse(JSON.parse(JSON.stringify(cursor))).success).toBe(true);
          const back = unpackCursor(cursor, first);
          expect(back.method).toBe(request.method);
          expect([...back.url.searchParams]).toEqual([...request.url.searchParams]);
          expect(back.body).toEqual(request.body);
        },
      ),
    );
  });

  it('omit from the cursor what the arguments contain', () => {
    const huge = { type: 'Polygon', coordinates: Array.from({ length: 4000 }, () => [0, 0]) };
    const first: PageRequest = { method: 'POST', url: at, body: { intersects: huge } };
    const cursor = packCursor({ ...first, body: { intersects: huge, token: 't' } }, first, {
      seen: [],
    });
    expect(JSON.stringify(cursor).length).toBeLessThan(200);
    const get = new URL(at);
    get.searchParams.set('intersects', JSON.stringify(huge));
    const there: PageRequest = { method: 'GET', url: get };
    expect(JSON.stringify(packCursor(there, there, { seen: [] })).length).toBeLessThan(200);
  });
});

/** The page at which a loop is detected; undefined if it is not. */
function noticedAt(pageAt: (index: number) => string, pages: number): number | undefined {
  let trail: PageTrail | undefined;
  for (let index = 0; index < pages; index++) {
    const entries = [{ id: pageAt(index) }];
    if (isRepeatedPage(entries, trail)) return index;
    trail = appendToTrail(trail, entries);
  }
  return undefined;
}

describe('a page trail', () => {
  it('detects loops of any length, without false positives', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.integer({ min: 1, max: 60 }), (before, period) => {
        const pageAt = (index: number) =>
          index < before ? `b${index}` : `c${(index - before) % period}`;
        const noticed = noticedAt(pageAt, 1000);
        expect(noticed).toBeGreaterThanOrEqual(before + period);
        expect(noticed).toBeLessThanOrEqual(3 * Math.max(before, period) + period + 2);
      }),
    );
    expect(noticedAt(String, 5000)).toBeUndefined();
  });

  it('detects a short loop at its first repeated page', () => {
    for (let period = 1; period <= 6; period++) {
      expect(noticedAt((index) => String(index % period), 100)).toBe(period);
    }
  });

  it('distinguishes items with the same id in two collections', () => {
    const trail = appendToTrail(undefined, [{ id: 'tile', collection: 'a' }]);
    expect(isRepeatedPage([{ id: 'tile', collection: 'b' }], trail)).toBe(false);
    expect(isRepeatedPage([{ id: 'tile', collection: 'a' }], trail)).toBe(true);
  });

  it('ignores empty pages and has a bounded size', () => {
    expect(appendToTrail(undefined, [])).toBeUndefined();
    let trail: PageTrail | undefined;
    for (let page = 0; page < 100; page++) {
      trail = appendToTrail(appendToTrail(trail, [{ id: String(page) }]), []);
      expect(isRepeatedPage([], trail)).toBe(false);
    }
    expect(JSON.stringify(trail).length).toBeLessThan(130);
  });
});
