import { startStacSandbox, type StacSandbox } from '@toolkeel/sandbox';
import type { PackRig } from '@toolkeel/pack-kit/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { api, collection, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';

const { createRig, setup } = useHarness();

const running: StacSandbox[] = [];
afterEach(async () => {
  for (const sandbox of running.splice(0)) await sandbox.close();
});

/** Reads a list to its end and counts the calls. */
const readAll = async (rig: PackRig, tool: string, args: object, byteBudget?: number) => {
  const ids: string[] = [];
  const warnings: unknown[] = [];
  let token: string | undefined;
  let calls = 0;
  do {
    const answer = await rig.run(
      tool,
      { ...args, ...(token && { page_token: token }) },
      { byteBudget },
    );
    if (!answer.success) throw new Error(JSON.stringify(answer.error));
    calls++;
    const list = (answer.data['items'] ?? answer.data['collections']) as { id: string }[];
    ids.push(...list.map(({ id }) => id));
    const { pagination } = answer.meta;
    token = pagination?.next_token;
    if (pagination?.has_more && pagination.warning) warnings.push(pagination.warning);
  } while (token !== undefined && calls < 100);
  return { ids, calls, warnings };
};

describe('a result that is cut by the byte budget', () => {
  it.each([10, 43, 500])('fetches each of 43 items once with limit %d', async (limit) => {
    const sandbox = await startStacSandbox({ scale: 0.1 });
    running.push(sandbox);
    const rig = await createRig({ catalogs: { box: { url: sandbox.url } } });
    const search = { collections: ['sentinel-2-l2a'], output_format: 'json' };
    const whole = await rig.data(
      'search_items',
      { ...search, limit: 43 },
      { byteBudget: 4_000_000 },
    );
    const ids = (whole['items'] as { id: string }[]).map(({ id }) => id);
    const bytesOfAll = sandbox.log({ route: 'search' })[0]!.bytesOut;

    const before = sandbox.log().at(-1)!.id;
    const read = await readAll(rig, 'search_items', { ...search, ids, limit });
    expect(read.ids.toSorted()).toEqual(ids.toSorted());
    expect(read.warnings.length).toBeGreaterThan(0);
    expect(read.warnings[0]).toMatch(/^Cut after \d+ of \d+ items: .* `page_token` .*`fields`/);
    const requests = sandbox.log({ after: before, route: 'search' });
    expect(requests).toHaveLength(Math.ceil(43 / limit));
    const bytes = requests.reduce((sum, { bytesOut }) => sum + bytesOut, 0);
    expect(bytes / bytesOfAll).toBeLessThan(1.1);
  });

  it('fetches a page once from a server that ignores the limit', async () => {
    const items = Array.from({ length: 30 }, (_, index) => item(`i${index}`));
    const { rig, server } = await setup(
      api({ before: ({ path }) => (path === '/search' ? page(items) : undefined) }),
    );
    const read = await readAll(rig, 'search_items', { limit: 4 });
    expect(read.ids).toEqual(items.map(({ id }) => id));
    expect(server.requests.filter(({ path }) => path === '/search')).toHaveLength(1);
  });

  it('reads the collections once for all pages of a local search', async () => {
    const collections = Array.from({ length: 30 }, (_, index) => collection(`c${index}`));
    const { rig, server } = await setup(api({ collections }));
    const read = await readAll(rig, 'search_collections', { q: 'title', limit: 4 }, 2000);
    expect(read.ids.toSorted()).toEqual(collections.map(({ id }) => String(id)).toSorted());
    expect(server.requests.filter(({ path }) => path === '/collections')).toHaveLength(1);
  });

  it('reads a static catalogue once', async () => {
    const sandbox = await startStacSandbox({ scale: 0.02 });
    running.push(sandbox);
    const rig = await createRig({ catalogs: { files: { url: sandbox.staticUrl } } });
    await rig.data('search_items', { limit: 20 });
    const walked = sandbox.log().length;
    const args = { limit: 20, output_format: 'json' };
    const first = await rig.run('search_items', args, { byteBudget: 20_000 });
    const page_token = first.meta.pagination?.next_token;
    expect(first.meta.pagination).toMatchObject({ has_more: true });
    const before = sandbox.log().length;
    expect(before).toBeGreaterThan(walked);
    await rig.run('search_items', { ...args, page_token }, { byteBudget: 20_000 });
    expect(sandbox.log()).toHaveLength(before);
  });

  it('continues with a token of another process', async () => {
    const names = [...'abcdefgh'];
    const { rig, server } = await setup(api({ items: names.map((id) => item(id)) }));
    const args = { output_format: 'json' };
    const first = await rig.run('search_items', args, { byteBudget: 2500 });
    const { next_token: page_token, result_count: count } = first.meta.pagination!;
    expect(count).toBeLessThan(8);
    const other = await createRig({ catalogs: { test: { url: server.origin } } });
    const second = await other.data('search_items', { ...args, page_token });
    const rest = names.slice(count);
    expect(second).toMatchObject({ items: rest.map((id) => ({ id })) });
  });
});
