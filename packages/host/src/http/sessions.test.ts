import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { Sessions } from './sessions.js';

const setUp = (over: Partial<ConstructorParameters<typeof Sessions>[0]> = {}) => {
  let time = 0;
  const closed = vi.fn();
  const make = () => {
    const server = new McpServer({ name: 's', version: '1' });
    const close = server.close.bind(server);
    return Object.assign(server, { close: () => close().then(closed) });
  };
  const sessions = new Sessions({
    make,
    onError: vi.fn(),
    maxSessions: 2,
    idleMs: 1000,
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
  const ping = async (session?: string) =>
    (await send({ jsonrpc: '2.0', id: 2, method: 'ping' }, session)).status;
  return { sessions, send, open, ping, closed, wait: (ms: number) => (time += ms) };
};

describe('sessions', () => {
  it('are opened by a handshake, used by their id, and ended by it', async () => {
    const { open, ping, send } = setUp();
    const id = await open();
    expect(await ping(id)).toBe(200);
    expect((await send(undefined, id, 'DELETE')).status).toBe(200);
    expect(await ping(id)).toBe(404);
  });

  it('are not needed for one answer', async () => {
    const { ping, sessions, send } = setUp();
    expect(await ping()).toBe(200);
    expect(sessions.size).toBe(0);
    expect((await send(undefined, undefined, 'GET')).status).toBe(405);
  });

  it('make room: the one that was not used for longest goes first', async () => {
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

  it('that are idle for long end when the next one begins', async () => {
    const { open, ping, wait } = setUp({ maxSessions: 10 });
    const old = await open();
    wait(1001);
    await open();
    expect(await ping(old)).toBe(404);
  });

  it('all end with the server', async () => {
    const { open, sessions, closed } = setUp();
    await open();
    await open();
    await sessions.closeAll();
    expect(sessions.size).toBe(0);
    expect(closed).toHaveBeenCalledTimes(2);
  });
});
