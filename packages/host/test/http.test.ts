import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Pack } from '@toolkeel/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createHost,
  createLog,
  HostError,
  Secret,
  type Host,
  type HttpHandle,
} from '@toolkeel/host';
import { samplePack } from '../src/fixtures/sample.fixture.js';
import { overHttp } from './clients.js';

const host: Host = createHost({ packs: [{ pack: samplePack, callTimeoutMs: 500 }] });
let http: HttpHandle;

beforeAll(async () => {
  http = await host.listen({
    port: 0,
    bodyLimitBytes: 10_000,
    timeouts: { headersMs: 300, requestMs: 600 },
  });
});

afterAll(async () => {
  await http.close();
  await host.close();
});

const get = async (
  url: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number | undefined; text: string; headers: IncomingMessage['headers'] }> => {
  const sent = request(url, { method: body === undefined ? 'GET' : 'POST', headers });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, text, headers: response.headers };
};

const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const json = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

describe('DNS rebinding', () => {
  it.each([
    ['a foreign host', { host: 'evil.example' }],
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['a host that starts like a loopback address', { host: '127.0.0.1.evil.example' }],
  ])('is refused with %s', async (_, headers) => {
    for (const path of ['/mcp', '/metrics', '/healthz']) {
      expect((await get(`${http.url}${path}`, headers)).status).toBe(403);
    }
    expect((await get(`${http.url}/mcp`, { ...json, ...headers }, listing)).status).toBe(403);
  });

  it('does not affect local pages', async () => {
    const headers = { ...json, host: 'localhost:1', origin: 'http://127.0.0.1:9999' };
    expect((await get(`${http.url}/mcp`, headers, listing)).status).toBe(200);
  });
});

describe('a request', () => {
  it('needs no session and no handshake', async () => {
    const { text } = await get(`${http.url}/mcp`, json, listing);
    expect(text).toContain('"name":"echo"');
  });

  it('may accept every type, as curl does by default, but not one type only', async () => {
    const params = { name: 'echo', arguments: { text: 'hi' } };
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    for (const [body, found] of [
      [call, '"hi"'],
      [listing, '"echo"'],
    ] as const) {
      const any = await get(`${http.url}/mcp`, { ...json, accept: '*/*' }, body);
      expect(any.status).toBe(200);
      expect(any.text).toContain(found);
      const one = await get(`${http.url}/mcp`, { ...json, accept: 'application/json' }, body);
      expect(one.status).toBe(406);
    }
  });

  it('that is too large is refused, with and without a content length', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      pad: 'x'.repeat(20_000),
    });
    expect((await get(`${http.url}/mcp`, json, body)).status).toBe(413);
    const chunked = { ...json, 'transfer-encoding': 'chunked' };
    expect((await get(`${http.url}/mcp`, chunked, body)).status).toBe(413);
  });

  it('that is not JSON is refused', async () => {
    expect((await get(`${http.url}/mcp`, json, '{')).status).toBe(400);
    const plain = { ...json, 'content-type': 'text/plain' };
    expect((await get(`${http.url}/mcp`, plain, listing)).status).toBe(415);
  });

  it('to an unknown path, session or method is refused', async () => {
    expect((await get(`${http.url}/x`, {})).status).toBe(404);
    expect((await get(`${http.url}/mcp`, { ...json, 'mcp-session-id': 'x' }, listing)).status).toBe(
      404,
    );
    expect((await get(`${http.url}/mcp`, json)).status).toBe(405);
  });
});

describe('a slow client', () => {
  const exchange = async (text: string): Promise<string> => {
    const { hostname, port } = new URL(http.url);
    const socket = connect(Number(port), hostname);
    socket.write(text);
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    await once(socket, 'close');
    return received;
  };

  it('that does not finish its headers is disconnected', async () => {
    expect(await exchange('POST /mcp HTTP/1.1\r\nHost: localhost\r\n')).toContain('408');
  });

  it('that does not finish its body is disconnected', async () => {
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    expect(await exchange(`${head}Content-Length: 100\r\n\r\n{"jsonrpc"`)).toContain('408');
  });
});

describe('a server beyond loopback', () => {
  it('does not start without a token', async () => {
    for (const open of ['0.0.0.0', '::', '192.0.2.1', 'example.com']) {
      await expect(host.listen({ host: open, port: 0 })).rejects.toThrow(HostError);
    }
  });

  it('does not start with a short token', async () => {
    for (const weak of ['~', 'fifteen-letters']) {
      const token = new Secret('http.token', weak);
      const started = host.listen({ host: '0.0.0.0', port: 0, token });
      await expect(started).rejects.toThrow(/at least 16 characters/);
      await expect(started).rejects.not.toThrow(weak);
      const strong = new Secret('http.token', 'a-long-enough-token');
      const scraped = host.listen({ host: '0.0.0.0', port: 0, token: strong, metricsToken: token });
      await expect(scraped).rejects.toThrow(/http\.metricsToken must have at least 16 characters/);
    }
  });

  it('accepts only requests with the token', async () => {
    const token = new Secret('http.token', 'a-long-enough-token');
    const open = await host.listen({ host: '0.0.0.0', port: 0, token });
    const { url } = open;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const refused = await get(`${url}/mcp`, json, listing);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    for (const authorization of ['Bearer wrong', 'a-long-enough-token', 'Basic YTpi', 'Bearer ']) {
      expect((await get(`${url}/metrics`, { authorization })).status).toBe(401);
    }
    const authorization = 'Bearer a-long-enough-token';
    expect((await get(`${url}/metrics`, { authorization })).status).toBe(200);
    expect((await get(`${url}/mcp`, { ...json, authorization }, listing)).status).toBe(200);
    expect(JSON.parse((await get(`${url}/healthz`, {})).text)).toEqual({ alive: true });
    expect(JSON.parse((await get(`${url}/healthz`, { authorization })).text)).toMatchObject({
      packs: {},
    });
    const client = await overHttp('1.x', url, { authorization });
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
    await open.close();
  });

  it('accepts only the metrics token for metrics, and that token for nothing else', async () => {
    const token = new Secret('http.token', 'a-long-enough-token');
    const metricsToken = new Secret('http.metricsToken', 'for-the-scraper-only');
    const open = await host.listen({ host: '0.0.0.0', port: 0, token, metricsToken });
    const { url } = open;
    const [scraper, client] = [metricsToken, token].map((secret) => ({
      authorization: `Bearer ${secret.reveal()}`,
    }));
    expect((await get(`${url}/metrics`, { ...scraper })).status).toBe(200);
    expect(
      (await get(`${url}/metrics`, { ...scraper, origin: 'https://evil.example' })).status,
    ).toBe(403);
    expect((await get(`${url}/metrics`, { ...client })).status).toBe(401);
    expect((await get(`${url}/metrics`, {})).status).toBe(401);
    expect((await get(`${url}/mcp`, { ...json, ...scraper }, listing)).status).toBe(401);
    expect((await get(`${url}/mcp`, { ...json, ...client }, listing)).status).toBe(200);
    expect(JSON.parse((await get(`${url}/healthz`, { ...scraper })).text)).toEqual({ alive: true });
    await open.close();
  });

  it('requires the metrics token on loopback as well, if one is configured', async () => {
    const metricsToken = new Secret('http.metricsToken', 'for-the-scraper-only');
    const open = await host.listen({ port: 0, metricsToken });
    expect((await get(`${open.url}/metrics`, {})).status).toBe(401);
    const authorization = 'Bearer for-the-scraper-only';
    expect((await get(`${open.url}/metrics`, { authorization })).status).toBe(200);
    expect((await get(`${open.url}/mcp`, json, listing)).status).toBe(200);
    await open.close();
  });
});

it('is healthy if a pack is not configured, and reports that pack', async () => {
  const health = { ok: false, detail: 'no credential', configured: false };
  const unused: Pack = {
    ...samplePack,
    create: async (config, deps) => ({
      ...(await samplePack.create(config, deps)),
      health: () => Promise.resolve(health),
    }),
  };
  const own = createHost({ packs: [{ pack: unused }] });
  const server = await own.listen({ port: 0 });
  const client = await overHttp('2.x modern', server.url);
  await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
  const response = await get(`${server.url}/healthz`, {});
  expect(response.status).toBe(200);
  expect(JSON.parse(response.text)).toEqual({ alive: true, ok: true, packs: { sample: health } });
  await client.close();
  await server.close();
  await own.close();
});

describe('observability', () => {
  it('includes counters, health, and the correlation id in all log lines of a call', async () => {
    let text = '';
    const { log, flush } = createLog({ level: 'debug', write: (line) => (text += line) });
    const own = createHost({ packs: [{ pack: samplePack, callTimeoutMs: 300 }], log });
    const server = await own.listen({ port: 0 });
    const client = await overHttp('2.x modern', server.url);
    await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
    await client.callTool({ name: 'echo', arguments: { text: 'nothing' } });
    await client.callTool({ name: 'wait_forever' });
    const flaky = await client.callTool({ name: 'flaky' });
    const { text: metrics, headers } = await get(`${server.url}/metrics`, {});
    expect(headers['content-type']).toContain('text/plain; version=0.0.4');
    for (const line of [
      'toolkeel_tool_calls_total{tool_name="echo",code="ok"} 1',
      'toolkeel_tool_calls_total{tool_name="echo",code="not_found"} 1',
      'toolkeel_tool_calls_total{tool_name="wait_forever",code="timeout"} 1',
      'toolkeel_tool_call_duration_seconds_count{tool_name="echo"} 2',
      'retries_attempted_total{tool_name="flaky"} 2',
      'toolkeel_attempts_total{tool_name="flaky",upstream="flaky"} 3',
      'timeouts_total{tool_name="wait_forever"} 1',
    ]) {
      expect(metrics).toContain(line);
    }
    expect(metrics).toContain('# TYPE retry_exhausted_total counter');
    expect(metrics).toContain('# TYPE toolkeel_circuit_state gauge');
    expect(metrics).toContain('# TYPE toolkeel_retry_budget_tokens gauge');
    expect(JSON.parse((await get(`${server.url}/healthz`, {})).text)).toEqual({
      alive: true,
      ok: true,
      packs: { sample: { ok: true, detail: 'fine' } },
    });
    await client.close();
    await server.close();
    await own.close();
    await flush();

    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const id = (flaky['structuredContent'] as { meta: { correlation_id: string } }).meta
      .correlation_id;
    const ofCall = lines.filter((line) => line['correlation_id'] === id);
    expect(ofCall.map((line) => line['event'])).toEqual([
      'attempt_end',
      'retry_attempt',
      'attempt_end',
      'retry_attempt',
      'attempt_end',
      'call_end',
      'tool_call',
    ]);
    expect(ofCall[1]).toMatchObject({
      level: 'info',
      tool_name: 'flaky',
      attempt: 1,
      fault: 'server',
      status: 503,
    });
    expect(ofCall.at(-1)).toMatchObject({ code: 'ok', retries: 2, attempts: 3 });
    expect(lines.find((line) => line['event'] === 'timeout_abort')).toMatchObject({
      clock: 'deadline',
    });
  });
});
