import { describe, expect, it } from 'vitest';
import { api, item, page } from './support/api.js';
import type { Reply, Seen } from './support/server.js';
import { useWorld } from './support/world.js';

const { world, serve, rigFor } = useWorld();

/** The given replies to searches first, then as usual. */
const failing = (...replies: readonly Reply[]) => {
  const left = [...replies];
  return api({ before: ({ path }: Seen) => (path === '/search' ? left.shift() : undefined) });
};
const always = (reply: Reply) =>
  api({ before: ({ path }: Seen) => (path === '/search' ? reply : undefined) });
const searches = (seen: readonly Seen[]) => seen.filter(({ path }) => path === '/search').length;

describe('faults that pass', () => {
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
  ])('%s is tried again', async (_, reply) => {
    const { rig, server } = await world(failing(reply, reply));
    const envelope = await rig.run('search_items');
    expect(envelope.success).toBe(true);
    expect(envelope.meta.retry_count).toBe(2);
    expect(searches(server.seen)).toBe(3);
    expect(rig.events.filter(({ type }) => type === 'retry_attempt')).toHaveLength(2);
  });

  it('a short Retry-After is waited for', async () => {
    const { rig } = await world(
      failing({ status: 429, json: {}, headers: { 'retry-after': '1' } }),
    );
    const envelope = await rig.run('search_items');
    expect(envelope.success).toBe(true);
    expect(envelope.meta.elapsed_ms).toBeGreaterThanOrEqual(999);
  });
});

describe('faults that stay', () => {
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
  ])('%s is answered with its code', async (_, reply, code, attempts) => {
    const { rig, server } = await world(always(reply));
    const envelope = await rig.run('search_items');
    expect(envelope).toMatchObject({ success: false, error: { code } });
    expect(searches(server.seen)).toBe(attempts);
    expect(JSON.stringify(envelope)).not.toContain('127.0.0.1:1/');
  });

  it('says how long to wait', async () => {
    const { rig } = await world(
      always({ status: 429, json: {}, headers: { 'retry-after': '60' } }),
    );
    expect(await rig.run('search_items')).toMatchObject({ error: { retry_after_ms: 60_000 } });
  });

  it('a host that nobody is at', async () => {
    const server = await serve(api());
    await server.close();
    const rig = await rigFor({ catalogs: { gone: { url: server.origin } } });
    expect(await rig.code('get_root')).toBe('upstream_unavailable');
  });

  it('opens the circuit after many, and says so', async () => {
    const { rig } = await world(always({ status: 503, json: {} }), { maxRetries: 0 });
    const codes = new Set<string>();
    // It takes 20 failures and a second of them: a burst is not an outage.
    while (!codes.has('circuit_open')) codes.add(await rig.code('search_items'));
    expect([...codes]).toEqual(['upstream_unavailable', 'circuit_open']);
  });
});

describe('the cap of a call', () => {
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

  it('ends every tool when the upstream never answers', async () => {
    const server = await serve(() => ({ act: 'stall' }));
    const config = {
      catalogs: { one: { url: server.origin }, two: { url: `${server.origin}/two` } },
      toolTimeoutSecs: 2,
    };
    const rig = await rigFor(config);
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

  it('is one for all requests of a call', async () => {
    const { rig } = await world(always({ act: 'stall' }), { toolTimeoutSecs: 1 });
    expect(await rig.run('summarize_search')).toMatchObject({
      error: { code: 'timeout', details: { clock: 'deadline' } },
    });
  });

  it('can be shorter by the host’s word', async () => {
    const { rig } = await world(always({ act: 'stall' }));
    expect(await rig.code('search_items', {}, { deadline: performance.now() + 300 })).toBe(
      'timeout',
    );
  });

  it('does not hold a caller who has gone', async () => {
    const { rig } = await world(always({ act: 'stall' }));
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    expect(await rig.code('search_items', {}, { signal: controller.signal })).toBe('cancelled');
  });
});

describe('a part of an answer', () => {
  it('is given by a federated search when a catalogue fails or stalls', async () => {
    const good = await serve(api({ items: [item('good')] }));
    const bad = await serve(() => ({ status: 403, json: { message: 'no' } }));
    const slow = await serve(() => ({ act: 'stall' }));
    const catalogs = {
      good: { url: good.origin },
      bad: { url: bad.origin },
      slow: { url: slow.origin },
    };
    const rig = await rigFor({ catalogs, toolTimeoutSecs: 1.5 });
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

  it('is given by a summary whose second page fails', async () => {
    const { rig } = await world(
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

  it('is given by an estimate when a file cannot be asked', async () => {
    const { rig } = await world(
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

describe('a limit that a success reports', () => {
  it('holds back the next request', async () => {
    const reset = String(Math.ceil(Date.now() / 1000) + 40);
    const { rig, server } = await world(
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
    const before = server.seen.length;
    expect(await rig.run('search_items')).toMatchObject({
      success: false,
      error: { code: 'rate_limited', retry_after_ms: expect.any(Number) },
    });
    expect(server.seen).toHaveLength(before);
  });
});
