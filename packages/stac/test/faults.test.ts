import { describe, expect, it } from 'vitest';
import { api, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';
import type { ReceivedRequest, Reply } from '@toolkeel/pack-kit/testing';

const { setup, serve, createRig } = useHarness();

/** The given replies to the first searches, then the default ones. */
const failing = (...replies: readonly Reply[]) => {
  const left = [...replies];
  return api({
    before: ({ path }: ReceivedRequest) => (path === '/search' ? left.shift() : undefined),
  });
};
const always = (reply: Reply) =>
  api({ before: ({ path }: ReceivedRequest) => (path === '/search' ? reply : undefined) });
const searches = (requests: readonly ReceivedRequest[]) =>
  requests.filter(({ path }) => path === '/search').length;

describe('transient faults', () => {
  it.each<[string, Reply]>([
    ['500', { status: 500, text: 'oops' }],
    [
      '502',
      {
        status: 502,
        text: '<html><title>Bad Gateway</title></html>',
        headers: { 'content-type': 'text/html' },
      },
    ],
    ['503', { status: 503, json: {} }],
    ['504', { status: 504, json: {} }],
    ['429 without a hint', { status: 429, json: {} }],
    ['a reset', { act: 'reset' }],
    ['half a body', { act: 'half', json: { type: 'FeatureCollection', features: [item('a')] } }],
  ])('%s is retried', async (_, reply) => {
    const { rig, server } = await setup(failing(reply, reply));
    const envelope = await rig.run('search_items');
    expect(envelope.success).toBe(true);
    expect(envelope.meta.retry_count).toBe(2);
    expect(searches(server.requests)).toBe(3);
    expect(rig.events.filter(({ type }) => type === 'retry_attempt')).toHaveLength(2);
  });

  it('a short Retry-After is honoured', async () => {
    const { rig } = await setup(
      failing({ status: 429, json: {}, headers: { 'retry-after': '1' } }),
    );
    const envelope = await rig.run('search_items');
    expect(envelope.success).toBe(true);
    expect(envelope.meta.elapsed_ms).toBeGreaterThanOrEqual(999);
  });
});

describe('permanent faults', () => {
  it.each<[string, Reply, string, number]>([
    ['503', { status: 503, json: {} }, 'upstream_unavailable', 3],
    ['501', { status: 501, json: {} }, 'upstream_rejected', 1],
    ['a reset', { act: 'reset' }, 'upstream_unavailable', 3],
    [
      'a long Retry-After',
      { status: 429, json: {}, headers: { 'retry-after': '60' } },
      'rate_limited',
      1,
    ],
    ['400', { status: 400, json: { description: 'bad bbox' } }, 'upstream_rejected', 1],
    ['401', { status: 401, json: {} }, 'unauthorized', 1],
    ['403', { status: 403, json: { message: 'Forbidden' } }, 'forbidden', 1],
    ['404', { status: 404, json: {} }, 'not_found', 1],
    ['JSON that is none', { text: '{"type": "Feat' }, 'upstream_unavailable', 1],
    ['JSON of another shape', { json: { hello: 'world' } }, 'upstream_unavailable', 1],
    ['a list', { json: [] }, 'upstream_unavailable', 1],
    [
      'an HTML page',
      { text: '<!doctype html><title>Sign in</title>', headers: { 'content-type': 'text/html' } },
      'upstream_unavailable',
      1,
    ],
    [
      'a redirect without end',
      { status: 302, headers: { location: '/search' } },
      'upstream_unavailable',
      6,
    ],
  ])('%s maps to its code', async (_, reply, code, attempts) => {
    const { rig, server } = await setup(always(reply));
    const envelope = await rig.run('search_items');
    expect(envelope).toMatchObject({ success: false, error: { code } });
    expect(searches(server.requests)).toBe(attempts);
    expect(JSON.stringify(envelope)).not.toContain('127.0.0.1:1/');
  });

  it('report retry_after_ms', async () => {
    const { rig } = await setup(
      always({ status: 429, json: {}, headers: { 'retry-after': '60' } }),
    );
    expect(await rig.run('search_items')).toMatchObject({ error: { retry_after_ms: 60_000 } });
  });

  it('a closed port is upstream_unavailable', async () => {
    const server = await serve(api());
    await server.close();
    const rig = await createRig({ catalogs: { gone: { url: server.origin } } });
    expect(await rig.code('get_root')).toBe('upstream_unavailable');
  });

  it('open the circuit', async () => {
    const { rig } = await setup(always({ status: 503, json: {} }), { maxRetries: 0 });
    const codes = new Set<string>();
    // The circuit needs 20 failures over a second, so that a burst does not open it.
    while (!codes.has('circuit_open')) codes.add(await rig.code('search_items'));
    expect([...codes]).toEqual(['upstream_unavailable', 'circuit_open']);
  });
});

describe('the deadline of a call', () => {
  const tools: [string, object][] = [
    ['search_items', {}],
    ['search_collections', { q: 'x' }],
    ['get_collection', { collection_id: 'a' }],
    ['get_item', { collection_id: 'a', item_id: 'b' }],
    ['get_queryables', {}],
    ['get_aggregations', {}],
    ['summarize_search', {}],
    ['estimate_data_size', {}],
    ['search_federated', {}],
    ['get_root', {}],
    ['get_conformance', {}],
    ['get_catalog_capabilities', {}],
  ];

  it('ends every tool if the upstream never responds', async () => {
    const server = await serve(() => ({ act: 'stall' }));
    const config = {
      catalogs: { one: { url: server.origin }, two: { url: `${server.origin}/two` } },
      toolTimeoutSecs: 2,
    };
    const rig = await createRig(config);
    const begun = performance.now();
    const answers = await Promise.all(
      tools.map(async ([tool, args]) => {
        const envelope = await rig.run(tool, args);
        return { tool, envelope, took: performance.now() - begun };
      }),
    );
    for (const { tool, envelope, took } of answers) {
      expect({ tool, envelope }).toMatchObject({
        tool,
        envelope: { success: false, error: { code: 'timeout', details: { clock: 'deadline' } } },
      });
      expect(took).toBeGreaterThanOrEqual(1998);
    }
  });

  it('applies to all requests of a call together', async () => {
    const { rig } = await setup(always({ act: 'stall' }), { toolTimeoutSecs: 1 });
    expect(await rig.run('summarize_search')).toMatchObject({
      error: { code: 'timeout', details: { clock: 'deadline' } },
    });
  });

  it('can be shortened by the host', async () => {
    const { rig } = await setup(always({ act: 'stall' }));
    expect(await rig.code('search_items', {}, { deadline: performance.now() + 300 })).toBe(
      'timeout',
    );
  });

  it('does not delay a cancelled call', async () => {
    const { rig } = await setup(always({ act: 'stall' }));
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    expect(await rig.code('search_items', {}, { signal: controller.signal })).toBe('cancelled');
  });
});

describe('a partial result', () => {
  it('is returned by a federated search if a catalogue fails or stalls', async () => {
    const good = await serve(api({ items: [item('good')] }));
    const bad = await serve(() => ({ status: 403, json: { message: 'no' } }));
    const slow = await serve(() => ({ act: 'stall' }));
    const catalogs = {
      good: { url: good.origin },
      bad: { url: bad.origin },
      slow: { url: slow.origin },
    };
    const rig = await createRig({ catalogs, toolTimeoutSecs: 1.5 });
    const data = await rig.data('search_federated');
    expect(data).toMatchObject({
      items: [{ id: 'good', catalog: 'good' }],
      catalogs: [
        { catalog: 'good', ok: true, matched: 1 },
        { catalog: 'bad', ok: false, error: { code: 'forbidden', retryable: false } },
        { catalog: 'slow', ok: false, error: { code: 'timeout', retryable: true } },
      ],
    });
  });

  it('is returned by a summary if the second page fails', async () => {
    const { rig } = await setup(
      api({
        before: ({ path, params }) => {
          if (path !== '/search') return undefined;
          if (params.has('token')) return { status: 500, json: {} };
          return page([item('a')], [{ rel: 'next', href: './search?token=2' }]);
        },
      }),
    );
    expect(await rig.data('summarize_search')).toMatchObject({
      sampled: 1,
      complete: false,
      count: null,
    });
  });

  it('is returned by an estimate if a HEAD request fails', async () => {
    const { rig } = await setup(
      api({
        items: [],
        before: ({ path, origin, method }) => {
          if (path === '/search') {
            const asset = (name: string) => ({ href: `${origin}/${name}` });
            return page([
              item('a', {
                assets: {
                  ok: asset('ok'),
                  missing: asset('missing'),
                  zero: asset('zero'),
                  slow: asset('slow'),
                  known: { ...asset('k'), 'file:size': 7 },
                },
              }),
            ]);
          }
          if (method !== 'HEAD') return undefined;
          if (path === '/ok') return { headers: { 'content-length': '1234' } };
          if (path === '/slow') return { act: 'stall' };
          return {
            status: path === '/zero' ? 200 : 404,
            headers: { 'content-length': path === '/zero' ? '0' : '999' },
          };
        },
      }),
      { toolTimeoutSecs: 1.5 },
    );
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_bytes: 1241,
      coverage: {
        head: { assets: 1, bytes: 1234 },
        file_size: { assets: 1, bytes: 7 },
        unknown: { assets: 3, bytes: null },
      },
    });
  });
});

describe('a rate limit in a successful response', () => {
  it('delays the next request', async () => {
    const reset = String(Math.ceil(Date.now() / 1000) + 40);
    const { rig, server } = await setup(
      api({
        before: ({ path }) =>
          path === '/search'
            ? {
                ...page([item('a')]),
                headers: {
                  'x-ratelimit-limit': '10',
                  'x-ratelimit-remaining': '0',
                  'x-ratelimit-reset': reset,
                },
              }
            : undefined,
      }),
    );
    expect(await rig.code('search_items')).toBe('success');
    const before = server.requests.length;
    expect(await rig.run('search_items')).toMatchObject({
      success: false,
      error: { code: 'rate_limited', retry_after_ms: expect.any(Number) },
    });
    expect(server.requests).toHaveLength(before);
  });
});
