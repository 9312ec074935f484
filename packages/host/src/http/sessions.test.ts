import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { Sessions } from './sessions.js';

const setUp = (over: Partial<ConstructorParameters<typeof Sessions>[0]> = {}) => {
  let time = 0;
  const closed = vi.fn();
  const aborted = vi.fn();
  const respond: (() => void)[] = [];
  const createServer = () => {
    const server = new McpServer({ name: 's', version: '1' }, { capabilities: { tools: {} } });
    server.server.setRequestHandler('tools/list', async (_, { mcpReq }) => {
      mcpReq.signal.addEventListener('abort', aborted);
      await new Promise<void>((resolve) => respond.push(resolve));
      return { tools: [] };
    });
    const close = server.close.bind(server);
    return Object.assign(server, { close: () => close().then(closed) });
  };
  const sessions = new Sessions({
    createServer,
    onError: vi.fn(),
    maxSessions: 2,
    idleMs: 1000,
    longestCallMs: 500,
    bodyLimit: 10_000,
    now: () => time,
    ...over,
  });
  const send = (body: object | undefined, session?: string, method = 'POST') => {
    const headers = new Headers({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    });
    if (session !== undefined) headers.set('mcp-session-id', session);
    return sessions.handle(new Request('http://localhost/mcp', { method, headers }), body);
  };
  const open = async (): Promise<string> => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    };
    const response = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  const ping = async (session?: string) => {
    const response = await send({ jsonrpc: '2.0', id: 2, method: 'ping' }, session);
    await response.text();
    return response.status;
  };
  /** Sends a request that is in flight until `respond` is called. */
  const list = (session?: string) =>
    send({ jsonrpc: '2.0', id: 3, method: 'tools/list', params: {} }, session);
  const wait = (ms: number) => (time += ms);
  return { sessions, send, open, ping, list, respond, aborted, closed, wait };
};

describe('sessions', () => {
  it('are opened by initialize, and used and closed by their id', async () => {
    const { open, ping, send } = setUp();
    const id = await open();
    expect(await ping(id)).toBe(200);
    expect((await send(undefined, id, 'DELETE')).status).toBe(200);
    expect(await ping(id)).toBe(404);
  });

  it('are not required for a single request', async () => {
    const { ping, sessions, send } = setUp();
    expect(await ping()).toBe(200);
    expect(sessions.size).toBe(0);
    expect((await send(undefined, undefined, 'GET')).status).toBe(405);
  });

  it('are evicted in the order of their last use', async () => {
    const { open, ping, closed, wait } = setUp();
    const first = await open();
    wait(1);
    const second = await open();
    wait(1);
    expect(await ping(first)).toBe(200);
    wait(1);
    const third = await open();
    expect(await Promise.all([first, second, third].map(ping))).toEqual([200, 404, 200]);
    expect(closed).toHaveBeenCalledOnce();
  });

  it('with a request in flight are never evicted', async () => {
    const { open, list, respond, wait, ping, send } = setUp();
    const oldest = await open();
    const response = await list(oldest);
    wait(1);
    const idle = await open();
    wait(1);
    const third = await open();
    expect(await Promise.all([idle, third].map(ping))).toEqual([404, 200]);
    respond.forEach((resolve) => resolve());
    expect(await response.text()).toContain('"tools":[]');
    expect((await send(undefined, oldest, 'DELETE')).status).toBe(200);
  });

  it('are refused with Retry-After while all have requests in flight', async () => {
    const { open, list, respond, sessions, ping, send } = setUp();
    const first = await open();
    const inFlight = [await list(first), await list(await open())];
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    };
    const refused = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(sessions.size).toBe(2);
    respond.forEach((resolve) => resolve());
    await Promise.all(inFlight.map((response) => response.text()));
    expect(await ping(await open())).toBe(200);
  });

  it('whose responses are never read are evicted after the longest call', async () => {
    const { open, list, ping, wait } = setUp();
    for (const id of [await open(), await open()]) await list(id);
    wait(501);
    expect(await ping(await open())).toBe(200);
  });

  it('with an open stream are evicted after those without', async () => {
    const { open, send, ping, wait } = setUp();
    const streaming = await open();
    const stream = await send(undefined, streaming, 'GET');
    wait(5000);
    const plain = await open();
    wait(1);
    const third = await open();
    expect(await Promise.all([streaming, plain, third].map(ping))).toEqual([200, 404, 200]);
    await stream.body?.cancel();
    wait(1001);
    await open();
    expect(await ping(streaming)).toBe(404);
  });

  it('that are idle are closed when the next one is opened', async () => {
    const { open, ping, wait } = setUp({ maxSessions: 10 });
    const old = await open();
    wait(1001);
    await open();
    expect(await ping(old)).toBe(404);
  });

  it('are not required to cancel a request by disconnecting', async () => {
    const { list, aborted, closed, respond } = setUp();
    const response = await list();
    await vi.waitFor(() => expect(respond).toHaveLength(1), { timeout: 30_000 });
    expect(aborted).not.toHaveBeenCalled();
    await response.body?.cancel();
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledOnce(), { timeout: 30_000 });
    expect(closed).toHaveBeenCalledOnce();
  });

  it('are all closed with the server', async () => {
    const { open, sessions, closed } = setUp();
    await open();
    await open();
    await sessions.closeAll();
    expect(sessions.size).toBe(0);
    expect(closed).toHaveBeenCalledTimes(2);
  });
});
