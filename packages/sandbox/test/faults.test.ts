import { describe, expect, test } from 'vitest';
import type { FaultKind, FaultRule } from '@toolkeel/sandbox';
import { sendRequest } from './support/client.js';
import { sendRaw, type RawRequest } from './support/raw.js';
import { closeSandboxesAfterEach, tiny } from './support/sandboxes.js';

closeSandboxesAfterEach();

const faulted = async (rule: Omit<FaultRule, 'rate'>, request: RawRequest = {}) => {
  const upstream = await tiny({ faults: [rule] });
  const received = await sendRaw(upstream.url, request);
  await expect.poll(() => upstream.log()[0]?.outcome).not.toBe('pending');
  return { upstream, received, entry: upstream.log()[0] };
};

describe('a status fault', () => {
  test.for([500, 501, 502, 503, 504, 505, 429, 403] as const)(
    'responds with %d',
    async (status) => {
      const { received, entry } = await faulted({ kind: `http-${status}` });
      expect(received).toMatchObject({ status, end: 'fin' });
      expect(received.headers['retry-after']).toBeUndefined();
      expect(JSON.parse(received.body)).toEqual({
        code: expect.any(String),
        description: expect.stringContaining(String(status)),
      });
      expect(entry).toMatchObject({ fault: `http-${status}`, status, outcome: 'answered' });
    },
  );

  test.for([
    [{ seconds: 2 }, /^2$/],
    [{ dateInSeconds: 3 }, /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/],
    [{ raw: 'soon' }, /^soon$/],
  ] as const)('sends Retry-After: %j', async ([retryAfter, expected]) => {
    const { received } = await faulted({ kind: 'http-429', retryAfter });
    expect(received.headers['retry-after']).toMatch(expected);
  });

  test('sends dates that lie in the future by the requested time', async () => {
    const { received } = await faulted({ kind: 'http-503', retryAfter: { dateInSeconds: 30 } });
    const ahead = Date.parse(received.headers['retry-after'] ?? '') - Date.now();
    expect(ahead).toBeGreaterThan(25_000);
    expect(ahead).toBeLessThanOrEqual(31_000);
  });
});

const post = { method: 'POST', path: '/search', body: '{"limit":1}' };

describe.for([
  ['reset', 'reset'],
  ['close', 'fin'],
] as const)('%s', ([kind, end]) => {
  test('before reading does not wait for the body', async () => {
    const { received, entry } = await faulted(
      { kind: `${kind}-before-read` },
      { ...post, withhold: true },
    );
    expect(received).toMatchObject({ end, text: '' });
    expect(entry).toMatchObject({ route: 'search', bytesIn: 0, status: null, outcome: 'broken' });
  });

  test('after reading waits for the body', async () => {
    const rule = { kind: `${kind}-after-read` } as const;
    const pending = await faulted(rule, { ...post, withhold: true, timeoutMs: 150 });
    expect(pending.received).toMatchObject({ end: 'open', text: '' });
    const { received, entry } = await faulted(rule, post);
    expect(received).toMatchObject({ end, text: '' });
    expect(entry).toMatchObject({ bytesIn: post.body.length, status: null, outcome: 'broken' });
  });
});

describe('a reset', () => {
  test('on connect precedes the request', async () => {
    const { received, entry } = await faulted({ kind: 'reset-on-connect' }, { silent: true });
    expect(received).toMatchObject({ end: 'reset', text: '' });
    expect(entry).toMatchObject({
      route: 'connection',
      fault: 'reset-on-connect',
      outcome: 'broken',
    });
  });

  test('in the middle of the body declares the whole length', async () => {
    const { received, entry } = await faulted({ kind: 'half-body' });
    const promised = Number(received.headers['content-length']);
    expect(received).toMatchObject({ end: 'reset', status: 200 });
    expect(received.body.length).toBe(Math.ceil(promised / 2));
    expect(entry).toMatchObject({ status: 200, outcome: 'broken' });
    expect(entry?.bytesOut).toBeGreaterThan(received.body.length);
  });

  test.for(['half-body', 'length-too-long', 'length-too-short'] as const)(
    '%s of a response without a body sends no head',
    async (kind) => {
      const { received, entry } = await faulted({ kind }, { method: 'HEAD' });
      expect(received).toMatchObject({ end: 'reset', text: '' });
      expect(entry).toMatchObject({ status: null, outcome: 'broken' });
    },
  );

  test('is a connection error for HTTP clients', async () => {
    const upstream = await tiny({ faults: [{ kind: 'reset-after-read' }] });
    await expect(sendRequest(upstream.url)).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
    });
  });
});

describe('slow responses', () => {
  test('a stall sends no byte until the client disconnects', async () => {
    const { received, entry } = await faulted({ kind: 'stall' }, { timeoutMs: 300 });
    expect(received).toMatchObject({ end: 'open', text: '' });
    expect(entry).toMatchObject({ status: null, outcome: 'client-left', bytesOut: 0 });
    expect(entry?.tookMs).toBeGreaterThan(100);
  });

  test.for(['stall', 'acted-stall'] as const)('%s can end with a reset', async (kind) => {
    const { received } = await faulted({ kind, stallMs: 100 }, post);
    expect(received).toMatchObject({ end: 'reset', text: '' });
    expect(received.tookMs).toBeGreaterThan(95);
  });

  test('a drip is complete after `dripMs`', async () => {
    const { received, entry } = await faulted({ kind: 'drip', dripMs: 300 });
    expect(received).toMatchObject({ end: 'fin', status: 200 });
    expect(received.body.length).toBe(Number(received.headers['content-length']));
    expect(received.chunks).toBeGreaterThan(1);
    expect(received.firstByteMs).toBeLessThan(received.tookMs);
    expect(received.tookMs).toBeGreaterThan(250);
    expect(entry?.outcome).toBe('answered');
  });
});

describe('invalid responses', () => {
  test('malformed-json truncates the document and matches Content-Length', async () => {
    const { received } = await faulted({ kind: 'malformed-json' });
    expect(received).toMatchObject({ status: 200, end: 'fin' });
    expect(received.body.length).toBe(Number(received.headers['content-length']));
    expect(received.headers['content-type']).toContain('json');
    expect(() => JSON.parse(received.body) as unknown).toThrow(SyntaxError);
  });

  test('garbage keeps the status and the headers', async () => {
    const { received } = await faulted({ kind: 'garbage' }, post);
    expect(received).toMatchObject({ status: 200, end: 'fin' });
    expect(received.headers['content-type']).toContain('json');
    expect(() => JSON.parse(received.body) as unknown).toThrow(SyntaxError);
  });

  test('empty-json is an empty object', async () => {
    const { received } = await faulted({ kind: 'empty-json' }, post);
    expect(received).toMatchObject({ status: 200, end: 'fin', body: '{}' });
  });

  test.for([
    ['html-200', 200],
    ['html-502', 502],
  ] as const)('%s is an HTML page', async ([kind, status]) => {
    const { received } = await faulted({ kind });
    expect(received).toMatchObject({ status, headers: { 'content-type': 'text/html' } });
    expect(received.body).toMatch(/^<!DOCTYPE html>/);
  });

  test('length-too-long ends with FIN before the declared length', async () => {
    const { upstream, received } = await faulted({ kind: 'length-too-long' });
    expect(received).toMatchObject({ status: 200, end: 'fin' });
    expect(received.body.length).toBeLessThan(Number(received.headers['content-length']));
    await expect(sendRequest(upstream.url)).rejects.toThrow();
  });

  test('length-too-short truncates the JSON', async () => {
    const { received } = await faulted({ kind: 'length-too-short' });
    const promised = Number(received.headers['content-length']);
    expect(received.body.length).toBeGreaterThan(promised);
    expect(() => JSON.parse(received.body.slice(0, promised)) as unknown).toThrow(SyntaxError);
  });

  test('redirect points to `location`', async () => {
    const location = 'http://169.254.169.254/latest/meta-data';
    const { received } = await faulted({ kind: 'redirect', location });
    expect(received).toMatchObject({ status: 307, headers: { location } });
  });
});

test('acted-http-503 responds with the status and Retry-After', async () => {
  const rule = { kind: 'acted-http-503', retryAfter: { seconds: 3 } } as const;
  const { received, entry } = await faulted(rule, post);
  expect(received).toMatchObject({ status: 503, headers: { 'retry-after': '3' } });
  expect(entry).toMatchObject({ fault: 'acted-http-503', status: 503, outcome: 'answered' });
});

describe('latency', () => {
  test('applies to responses, and a fast fault takes a tenth of it', async () => {
    const upstream = await tiny({ latency: { fixedMs: 300 } });
    expect((await sendRaw(upstream.url)).firstByteMs).toBeGreaterThanOrEqual(295);
    upstream.setFaults([{ kind: 'http-503' }]);
    const faults = await Promise.all([sendRaw(upstream.url), sendRaw(upstream.url)]);
    const fastest = Math.min(...faults.map(({ firstByteMs }) => firstByteMs ?? Number.NaN));
    expect(fastest).toBeGreaterThanOrEqual(29);
    expect(upstream.log().map(({ latencyMs }) => latencyMs)).toEqual([300, 300, 300]);
  });

  test('can be set for a route', async () => {
    const latency = { fixedMs: 0, routes: { conformance: { fixedMs: 120 } } };
    const upstream = await tiny({ latency });
    await sendRequest(upstream.url);
    await sendRequest(`${upstream.url}/conformance`);
    expect(upstream.log().map(({ route, latencyMs }) => [route, latencyMs])).toEqual([
      ['landing', 0],
      ['conformance', 120],
    ]);
  });
});

describe('fault rules', () => {
  test('apply to their route, method and turn', async () => {
    const upstream = await tiny({
      faults: [{ kind: 'http-500', routes: ['search'], methods: ['POST'], skip: 1, times: 2 }],
    });
    const search = `${upstream.url}/search`;
    const statuses: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      statuses.push((await sendRequest(search, { method: 'POST', body: { limit: 1 } })).status);
      expect((await sendRequest(`${search}?limit=1`)).status).toBe(200);
      expect((await sendRequest(upstream.url)).status).toBe(200);
    }
    expect(statuses).toEqual([200, 500, 500, 200, 200]);
  });

  test('reject an unknown route', async () => {
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

  test('draw the same sequence for the same seed', async () => {
    const sequence = async (seed: number) => {
      const upstream = await tiny({ seed, faults });
      for (let turn = 0; turn < 60; turn += 1)
        await sendRequest(`${upstream.url}/${turn % 3 === 0 ? '' : 'search?limit=1'}`).catch(
          () => undefined,
        );
      return upstream.log().map(({ fault }) => fault);
    };
    const first = await sequence(5);
    expect(new Set(first).size).toBeGreaterThan(3);
    expect(await sequence(5)).toEqual(first);
    expect(await sequence(6)).not.toEqual(first);
  });

  test('drawn by request do not depend on earlier calls', async () => {
    const upstream = await tiny({ faults, drawBy: 'request', latency: { p95Ms: 2 } });
    const outcomes = async (limits: number[]) => {
      upstream.restart();
      for (const limit of limits)
        await sendRequest(`${upstream.url}/search`, { method: 'POST', body: { limit } }).catch(
          () => undefined,
        );
      const entries = upstream
        .log()
        .map(({ fault, latencyMs }, at) => [limits[at], fault, latencyMs]);
      return entries.toSorted(([a], [b]) => Number(a) - Number(b));
    };
    const limits = Array.from({ length: 30 }, (_, at) => at + 1);
    const forwards = await outcomes(limits);
    expect(await outcomes(limits.toReversed())).toEqual(forwards);
    upstream.setFaults([]);
    const calm = await outcomes(limits);
    expect(calm.map(([, , latency]) => latency)).toEqual(forwards.map(([, , latency]) => latency));
  });
});

describe('closing', () => {
  test('does not wait for stalled, dripping or kept-alive connections', async () => {
    const faults: FaultRule[] = (['stall', 'drip'] as FaultKind[]).map((kind) => ({
      kind,
      rate: 0.5,
      // Longer than the test's timeout.
      ...(kind === 'drip' && { dripMs: 600_000 }),
    }));
    const upstream = await tiny({ faults });
    const talks = Array.from({ length: 12 }, () =>
      sendRaw(upstream.url, { headers: { connection: 'keep-alive' } }),
    );
    await expect.poll(() => upstream.counts().requests).toBe(12);
    await upstream.close();
    for (const received of await Promise.all(talks)) expect(received.end).not.toBe('open');
  });
});

test('a fault of another upstream is rejected', async () => {
  const rules: FaultRule[] = [{ kind: ['http-500', 'x-403-duplicate'] }];
  const upstream = await tiny();
  expect(() => upstream.setFaults(rules)).toThrow(
    /"x-403-duplicate" is not a fault of this upstream, which has loop-next/,
  );
  await expect(tiny({ faults: rules })).rejects.toThrow(/not a fault of this upstream/);
});

describe('an unreachable upstream', () => {
  test('refuses connections, and returns on the same port', async () => {
    const upstream = await tiny();
    await sendRequest(upstream.url);
    await upstream.setReachable(false);
    await upstream.setReachable(false);
    await expect(sendRequest(upstream.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await upstream.setReachable(true);
    expect((await sendRequest(upstream.url)).status).toBe(200);
    expect(upstream.counts().requests).toBe(2);
  });

  test('can still be controlled', async () => {
    const upstream = await tiny();
    const reachable = (value: unknown) =>
      sendRequest(`${upstream.control.url}/reachable`, {
        method: 'PUT',
        body: { reachable: value },
      });
    expect((await reachable(false)).status).toBe(204);
    await expect(sendRequest(upstream.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect((await reachable(true)).status).toBe(204);
    expect((await sendRequest(upstream.url)).status).toBe(200);
    expect((await reachable('perhaps')).status).toBe(400);
  });

  test('can be closed', async () => {
    const upstream = await tiny();
    await upstream.setReachable(false);
    await upstream.close();
    await expect(sendRequest(upstream.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
