import { describe, expect, test } from 'vitest';
import type { FaultKind, FaultRule } from '@toolkeel/sandbox';
import { ask } from './support/client.js';
import { talk, type Say } from './support/raw.js';
import { closeSandboxesAfterEach, tiny } from './support/sandboxes.js';

closeSandboxesAfterEach();

const struck = async (rule: Omit<FaultRule, 'rate'>, say: Say = {}) => {
  const upstream = await tiny({ faults: [rule] });
  const heard = await talk(upstream.url, say);
  await expect.poll(() => upstream.log()[0]?.outcome).not.toBe('pending');
  return { upstream, heard, entry: upstream.log()[0] };
};

describe('a fault with a status', () => {
  test.for([500, 501, 502, 503, 504, 505, 429, 403] as const)('answers %d', async (status) => {
    const { heard, entry } = await struck({ kind: `http-${status}` });
    expect(heard).toMatchObject({ status, end: 'fin' });
    expect(heard.headers['retry-after']).toBeUndefined();
    expect(JSON.parse(heard.body)).toEqual({
      code: expect.any(String),
      description: expect.stringContaining(String(status)),
    });
    expect(entry).toMatchObject({ fault: `http-${status}`, status, outcome: 'answered' });
  });

  test.for([
    [{ seconds: 2 }, /^2$/],
    [{ dateInSeconds: 3 }, /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/],
    [{ raw: 'soon' }, /^soon$/],
  ] as const)('says when to come back: %j', async ([retryAfter, expected]) => {
    const { heard } = await struck({ kind: 'http-429', retryAfter });
    expect(heard.headers['retry-after']).toMatch(expected);
  });

  test('dates are in the future by as much as was asked', async () => {
    const { heard } = await struck({ kind: 'http-503', retryAfter: { dateInSeconds: 30 } });
    const ahead = Date.parse(heard.headers['retry-after'] ?? '') - Date.now();
    expect(ahead).toBeGreaterThan(25_000);
    expect(ahead).toBeLessThanOrEqual(31_000);
  });
});

describe('a reset', () => {
  const post = { method: 'POST', path: '/search', body: '{"limit":1}' };

  test('on connect comes before anything is said', async () => {
    const { heard, entry } = await struck({ kind: 'reset-on-connect' }, { silent: true });
    expect(heard).toMatchObject({ end: 'reset', text: '' });
    expect(entry).toMatchObject({
      route: 'connection',
      fault: 'reset-on-connect',
      outcome: 'broken',
    });
  });

  test('before reading does not wait for the body', async () => {
    const { heard, entry } = await struck(
      { kind: 'reset-before-read' },
      { ...post, withhold: true },
    );
    expect(heard).toMatchObject({ end: 'reset', text: '' });
    expect(entry).toMatchObject({ route: 'search', bytesIn: 0, status: null, outcome: 'broken' });
  });

  test('after reading waits for it', async () => {
    const rule = { kind: 'reset-after-read' } as const;
    const patient = await struck(rule, { ...post, withhold: true, patienceMs: 150 });
    expect(patient.heard).toMatchObject({ end: 'open', text: '' });
    const { heard, entry } = await struck(rule, post);
    expect(heard).toMatchObject({ end: 'reset', text: '' });
    expect(entry).toMatchObject({ bytesIn: post.body.length, status: null, outcome: 'broken' });
  });

  test('in the middle of the body promises the whole', async () => {
    const { heard, entry } = await struck({ kind: 'half-body' });
    const promised = Number(heard.headers['content-length']);
    expect(heard).toMatchObject({ end: 'reset', status: 200 });
    expect(heard.body.length).toBe(Math.ceil(promised / 2));
    expect(entry).toMatchObject({ status: 200, outcome: 'broken' });
    expect(entry?.bytesOut).toBeGreaterThan(heard.body.length);
  });

  test.for(['half-body', 'length-too-long', 'length-too-short'] as const)(
    'for an answer without a body, %s leaves no head that would make it complete',
    async (kind) => {
      const { heard, entry } = await struck({ kind }, { method: 'HEAD' });
      expect(heard).toMatchObject({ end: 'reset', text: '' });
      expect(entry).toMatchObject({ status: null, outcome: 'broken' });
    },
  );

  test('is an error that HTTP clients know', async () => {
    const upstream = await tiny({ faults: [{ kind: 'reset-after-read' }] });
    await expect(ask(upstream.url)).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
    });
  });
});

describe('slowness', () => {
  test('a stall sends no byte and holds the connection, until the client leaves', async () => {
    const { heard, entry } = await struck({ kind: 'stall' }, { patienceMs: 300 });
    expect(heard).toMatchObject({ end: 'open', text: '' });
    expect(entry).toMatchObject({ status: null, outcome: 'client-left', bytesOut: 0 });
    expect(entry?.tookMs).toBeGreaterThan(100);
  });

  test('a stall can end with a reset', async () => {
    const { heard } = await struck({ kind: 'stall', stallMs: 100 });
    expect(heard).toMatchObject({ end: 'reset', text: '' });
    expect(heard.tookMs).toBeGreaterThan(95);
  });

  test('a drip is complete, but takes its time', async () => {
    const { heard, entry } = await struck({ kind: 'drip', dripMs: 300 });
    expect(heard).toMatchObject({ end: 'fin', status: 200 });
    expect(heard.body.length).toBe(Number(heard.headers['content-length']));
    expect(heard.chunks).toBeGreaterThan(1);
    expect(heard.firstByteMs).toBeLessThan(heard.tookMs);
    expect(heard.tookMs).toBeGreaterThan(250);
    expect(entry?.outcome).toBe('answered');
  });
});

describe('nonsense', () => {
  test('JSON that breaks off, in an answer that is complete', async () => {
    const { heard } = await struck({ kind: 'malformed-json' });
    expect(heard).toMatchObject({ status: 200, end: 'fin' });
    expect(heard.body.length).toBe(Number(heard.headers['content-length']));
    expect(heard.headers['content-type']).toContain('json');
    expect(() => JSON.parse(heard.body) as unknown).toThrow(SyntaxError);
  });

  test.for([
    ['html-200', 200],
    ['html-502', 502],
  ] as const)('%s is a page for people', async ([kind, status]) => {
    const { heard } = await struck({ kind });
    expect(heard).toMatchObject({ status, headers: { 'content-type': 'text/html' } });
    expect(heard.body).toMatch(/^<!DOCTYPE html>/);
  });

  test('a length that is too long ends politely before it is reached', async () => {
    const { upstream, heard } = await struck({ kind: 'length-too-long' });
    expect(heard).toMatchObject({ status: 200, end: 'fin' });
    expect(heard.body.length).toBeLessThan(Number(heard.headers['content-length']));
    await expect(ask(upstream.url)).rejects.toThrow();
  });

  test('a length that is too short cuts the JSON', async () => {
    const { heard } = await struck({ kind: 'length-too-short' });
    const promised = Number(heard.headers['content-length']);
    expect(heard.body.length).toBeGreaterThan(promised);
    expect(() => JSON.parse(heard.body.slice(0, promised)) as unknown).toThrow(SyntaxError);
  });

  test('a redirect leads where it was told', async () => {
    const location = 'http://169.254.169.254/latest/meta-data';
    const { heard } = await struck({ kind: 'redirect', location });
    expect(heard).toMatchObject({ status: 307, headers: { location } });
  });
});

describe('latency', () => {
  test('is kept by answers, and a fast fault takes a tenth of it', async () => {
    const upstream = await tiny({ latency: { fixedMs: 300 } });
    expect((await talk(upstream.url)).firstByteMs).toBeGreaterThanOrEqual(295);
    upstream.setFaults([{ kind: 'http-503' }]);
    const faults = await Promise.all([talk(upstream.url), talk(upstream.url)]);
    const fastest = Math.min(...faults.map(({ firstByteMs }) => firstByteMs ?? Number.NaN));
    expect(fastest).toBeGreaterThanOrEqual(29);
    expect(upstream.log().map(({ latencyMs }) => latencyMs)).toEqual([300, 300, 300]);
  });

  test('can be that of a route', async () => {
    const latency = { fixedMs: 0, routes: { conformance: { fixedMs: 120 } } };
    const upstream = await tiny({ latency });
    await ask(upstream.url);
    await ask(`${upstream.url}/conformance`);
    expect(upstream.log().map(({ route, latencyMs }) => [route, latencyMs])).toEqual([
      ['landing', 0],
      ['conformance', 120],
    ]);
  });
});

describe('where faults strike', () => {
  test('only on their route, method and turn', async () => {
    const upstream = await tiny({
      faults: [{ kind: 'http-500', routes: ['search'], methods: ['POST'], skip: 1, times: 2 }],
    });
    const search = `${upstream.url}/search`;
    const statuses: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      statuses.push((await ask(search, { method: 'POST', body: { limit: 1 } })).status);
      expect((await ask(`${search}?limit=1`)).status).toBe(200);
      expect((await ask(upstream.url)).status).toBe(200);
    }
    expect(statuses).toEqual([200, 500, 500, 200, 200]);
  });

  test('a route that does not exist is refused', async () => {
    const upstream = await tiny();
    const rules: FaultRule[] = [{ kind: 'http-500', routes: ['serach'] }];
    expect(() => upstream.setFaults(rules)).toThrow(/"serach" is not a route: use one of landing/);
    await expect(tiny({ faults: rules })).rejects.toThrow(/"serach"/);
  });

  const faults: FaultRule[] = [
    {
      kind: ['http-500', 'http-503', 'reset-after-read'],
      rate: 0.2,
      routes: ['search', 'landing'],
    },
    { kind: 'http-429', rate: 0.1 },
  ];

  test('the same seed gives the same sequence, another one another', async () => {
    const sequence = async (seed: number) => {
      const upstream = await tiny({ seed, faults });
      for (let turn = 0; turn < 60; turn += 1)
        await ask(`${upstream.url}/${turn % 3 === 0 ? '' : 'search?limit=1'}`).catch(
          () => undefined,
        );
      return upstream.log().map(({ fault }) => fault);
    };
    const first = await sequence(5);
    expect(new Set(first).size).toBeGreaterThan(3);
    expect(await sequence(5)).toEqual(first);
    expect(await sequence(6)).not.toEqual(first);
  });

  test('drawn by request, the luck of a call does not depend on what came before', async () => {
    const upstream = await tiny({ faults, drawBy: 'request', latency: { p95Ms: 2 } });
    const luck = async (limits: number[]) => {
      upstream.restart();
      for (const limit of limits)
        await ask(`${upstream.url}/search`, { method: 'POST', body: { limit } }).catch(
          () => undefined,
        );
      const entries = upstream
        .log()
        .map(({ fault, latencyMs }, at) => [limits[at], fault, latencyMs]);
      return entries.toSorted(([a], [b]) => Number(a) - Number(b));
    };
    const limits = Array.from({ length: 30 }, (_, at) => at + 1);
    const forwards = await luck(limits);
    expect(await luck(limits.toReversed())).toEqual(forwards);
    upstream.setFaults([]);
    const calm = await luck(limits);
    expect(calm.map(([, , latency]) => latency)).toEqual(forwards.map(([, , latency]) => latency));
  });
});

describe('closing', () => {
  test('does not wait for what is stalled, dripping or kept alive', async () => {
    const faults: FaultRule[] = (['stall', 'drip'] as FaultKind[]).map((kind) => ({
      kind,
      rate: 0.5,
      // Longer than the test may take.
      ...(kind === 'drip' && { dripMs: 600_000 }),
    }));
    const upstream = await tiny({ faults });
    const talks = Array.from({ length: 12 }, () =>
      talk(upstream.url, { headers: { connection: 'keep-alive' } }),
    );
    await expect.poll(() => upstream.counts().requests).toBe(12);
    await upstream.close();
    for (const heard of await Promise.all(talks)) expect(heard.end).not.toBe('open');
  });
});
