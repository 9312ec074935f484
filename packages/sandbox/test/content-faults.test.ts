import { describe, expect, test } from 'vitest';
import type { Flavour } from '@toolkeel/sandbox';
import { sendRequest, follow, pages, type RequestOptions, type Page } from './support/client.js';
import { closeSandboxesAfterEach, tiny } from './support/sandboxes.js';

closeSandboxesAfterEach();

const flavours: Flavour[] = ['full', 'minimal', 'pgstac', 'earth-search'];
const searchOf = (url: string): string => `${url}/search`;

describe.for(flavours)('the flavour %s', (flavour) => {
  test('loop-next links to the same page', async () => {
    const upstream = await tiny({ flavour, faults: [{ kind: 'loop-next', skip: 1 }] });
    const seen: string[] = [];
    for await (const { features } of pages(`${searchOf(upstream.url)}?limit=5`)) {
      seen.push(features.map(({ id }) => id).join());
      if (seen.length === 5) break;
    }
    expect(new Set(seen).size).toBe(2);
    expect(seen[2]).toBe(seen[1]);
    expect(upstream.counts().byFault).toEqual({ 'loop-next': 4 });
  });

  test('empty-page is followed by the omitted items', async () => {
    const upstream = await tiny({ flavour });
    const visit = async () => {
      const ids: string[] = [];
      const sizes: number[] = [];
      for await (const { features } of pages(`${searchOf(upstream.url)}?limit=9`)) {
        ids.push(...features.map(({ id }) => id));
        sizes.push(features.length);
      }
      return { ids, sizes };
    };
    const calm = await visit();
    upstream.setFaults([{ kind: 'empty-page', rate: 0.4 }]);
    const faulted = await visit();
    expect(faulted.ids).toEqual(calm.ids);
    expect(faulted.sizes.length).toBe(
      calm.sizes.length + (upstream.counts().byFault['empty-page'] ?? 0),
    );
    expect(faulted.sizes.length).toBeGreaterThan(calm.sizes.length);
  });
});

test('empty-page does not repeat the link that led to it', async () => {
  const { url } = await tiny({ faults: [{ kind: 'empty-page' }] });
  const links = new Set<string>();
  let [at, asked]: [string, RequestOptions] = [
    `${url}/search`,
    { method: 'POST', body: { limit: 5 } },
  ];
  for (let turn = 0; turn < 4; turn += 1) {
    const { json } = await sendRequest<Page>(at, asked);
    const next = json.links.find(({ rel }) => rel === 'next');
    expect(json.features).toEqual([]);
    links.add(JSON.stringify(next));
    if (next) [at, asked] = follow(next, at, asked);
  }
  expect(links.size).toBe(4);
});

test('foreign-next links to another origin that responds', async () => {
  const required = { name: 'authorization', value: 'Bearer sesame' };
  const upstream = await tiny({ faults: [{ kind: 'foreign-next' }], requiredHeader: required });
  const headers = { authorization: 'Bearer sesame' };
  const { json } = await sendRequest<Page>(`${upstream.url}/search?limit=5`, { headers });
  const next = new URL(json.links.find(({ rel }) => rel === 'next')?.href ?? '');
  expect(next.origin).toBe(`http://localhost:${new URL(upstream.url).port}`);
  expect((await sendRequest(next.href)).status).toBe(401);
  expect((await sendRequest(next.href, { headers })).status).toBe(200);
  expect(upstream.log().map((entry) => entry.headers.includes('authorization'))).toEqual([
    true,
    false,
    true,
  ]);
});

test.for([
  ['too-large-413', 413],
  ['too-large-502', 502],
] as const)('%s applies only above a page size', async ([kind, status]) => {
  const upstream = await tiny({ faults: [{ kind, aboveLimit: 20 }] });
  const search = searchOf(upstream.url);
  expect((await sendRequest(`${search}?limit=21`)).status).toBe(status);
  expect((await sendRequest(search, { method: 'POST', body: { limit: 80 } })).status).toBe(status);
  expect((await sendRequest(`${search}?limit=20`)).status).toBe(200);
  expect((await sendRequest(upstream.url)).status).toBe(200);
  expect(upstream.log().map(({ fault }) => fault)).toEqual([kind, kind, null, null]);
});
