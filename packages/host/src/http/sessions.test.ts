import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { Sessions } from './sessions.js';

const setUp = (over: Partial<ConstructorParameters<typeof Sessions>[0]> = {}) => {
  let time = 0;
  const closed = vi.fn();
  const aborted = vi.fn();
  const answers: (() => void)[] = [];
  const make = () => {
    const server = new McpServer({ name: 's', version: '1' }, { capabilities: { tools: {} } });
    server.server.setRequestHandler('tools/list', async (_, { mcpReq }) => {
      mcpReq.signal.addEventListener('abort', aborted);
      await new Promise<void>((resolve) => answers.push(resolve));
      return { tools: [] };
    });
    const close = server.close.bind(server);
    return Object.assign(server, { close: () => close().then(closed) });
  };
  const sessions = new Sessions({
    make,
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
  /** Asks for something that takes until `answers` are given. */
  const ask = (session?: string) =>
    send({ jsonrpc: '2.0', id: 3, method: 'tools/list', params: {} }, session);
  const wait = (ms: number) => (time += ms);
  return { sessions, send, open, ping, ask, answers, aborted, closed, wait };
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

  it('that owe an answer are never closed to make room', async () => {
    const { open, ask, answers, wait, ping, send } = setUp();
    const oldest = await open();
    const answer = await ask(oldest);
    wait(1);
    const idle = await open();
    wait(1);
    const third = await open();
    expect(await Promise.all([idle, third].map(ping))).toEqual([404, 200]);
    answers.forEach((give) => give());
    expect(await answer.text()).toContain('"tools":[]');
    expect((await send(undefined, oldest, 'DELETE')).status).toBe(200);
  });

  it('are refused for a moment when all of them owe an answer', async () => {
    const { open, ask, answers, sessions, ping, send } = setUp();
    const first = await open();
    const owed = [await ask(first), await ask(await open())];
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    };
    const refused = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(sessions.size).toBe(2);
    answers.forEach((give) => give());
    await Promise.all(owed.map((one) => one.text()));
    expect(await ping(await open())).toBe(200);
  });

  it('cannot be kept from others by answers that nobody reads', async () => {
    const { open, ask, ping, wait } = setUp();
    for (const id of [await open(), await open()]) await ask(id);
    wait(501);
    expect(await ping(await open())).toBe(200);
  });

  it('on which somebody listens go after those on which nobody does', async () => {
    const { open, send, ping, wait } = setUp();
    const listening = await open();
    const stream = await send(undefined, listening, 'GET');
    wait(5000);
    const quiet = await open();
    wait(1);
    const third = await open();
    expect(await Promise.all([listening, quiet, third].map(ping))).toEqual([200, 404, 200]);
    await stream.body?.cancel();
    wait(1001);
    await open();
    expect(await ping(listening)).toBe(404);
  });

  it('that are idle for long end when the next one begins', async () => {
    const { open, ping, wait } = setUp({ maxSessions: 10 });
    const old = await open();
    wait(1001);
    await open();
    expect(await ping(old)).toBe(404);
  });

  it('a client without one that leaves ends the work', async () => {
    const { ask, aborted, closed, answers } = setUp();
    const answer = await ask();
    await vi.waitFor(() => expect(answers).toHaveLength(1), { timeout: 30_000 });
    expect(aborted).not.toHaveBeenCalled();
    await answer.body?.cancel();
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledOnce(), { timeout: 30_000 });
    expect(closed).toHaveBeenCalledOnce();
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
