import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { objectIn, type Message } from '../src/frame.js';
import { createRig, readTool, text, writeTool, type Rig } from '../src/rig.fixture.js';

type Members = Readonly<Record<string, unknown>>;
type Behave = (call: Message, response: ServerResponse, nth: number) => Members | 'handled';

let server: Server | undefined;
let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  server?.closeAllConnections();
  server?.close();
});

interface Upstream {
  readonly calls: Message[];
  readonly sessions: string[];
  readonly headers: IncomingMessage['headers'][];
  readonly forget: () => void;
}

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** A server with sessions; the test decides how it answers calls. */
const open = async (
  behave: Behave,
  { isSessionless = false, ...config }: { isSessionless?: boolean; [name: string]: unknown } = {},
  isLost = (_method: string): boolean => false,
): Promise<Rig & { http: Upstream }> => {
  const live = new Set<string>();
  const http: Upstream = { calls: [], sessions: [], headers: [], forget: () => live.clear() };
  const answer = (message: Message, response: ServerResponse): void => {
    const { id, method } = message;
    if (id === undefined) return void response.writeHead(202).end();
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'h', version: '1' },
          }
        : method === 'tools/list'
          ? { tools: [readTool, writeTool] }
          : method === 'tools/call'
            ? behave(message, response, http.calls.push(message))
            : {};
    if (result !== 'handled') json(response, 200, { jsonrpc: '2.0', id, result });
  };
  server = createServer((incoming, response) => {
    if (incoming.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    incoming.on('data', (chunk) => (body += String(chunk)));
    incoming.on('end', () => {
      const message = JSON.parse(body) as Message;
      http.headers.push(incoming.headers);
      if (isLost(String(message.method))) return void response.writeHead(404).end('not found');
      if (isSessionless) return answer(message, response);
      if (message.method === 'initialize') {
        const session = `s${http.sessions.length + 1}`;
        http.sessions.push(session);
        live.add(session);
        response.setHeader('mcp-session-id', session);
      } else if (!live.has(String(incoming.headers['mcp-session-id']))) {
        const error = { code: -32_000, message: 'Bad Request: No valid session ID provided' };
        return json(response, 400, { jsonrpc: '2.0', id: null, error });
      }
      return answer(message, response);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const created = createRig({ config: { url: `http://127.0.0.1:${port}/mcp`, ...config } });
  rig = created;
  return { ...created, http };
};

const textOf = ({ result }: Message): unknown =>
  (result?.['content'] as readonly { text: string }[] | undefined)?.at(-1)?.text;
const errorOf = ({ result }: Message) =>
  (result?.['structuredContent'] as { error: { code: string; outcome?: string } } | undefined)
    ?.error;

it('reads answers as JSON and as server-sent events', async () => {
  const { client, http } = await open((call, response, nth) => {
    if (nth === 1) return text('json');
    const frame = JSON.stringify({ jsonrpc: '2.0', id: call.id, result: text('events') });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(
      `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n`,
    );
    response.end(`event: message\ndata: ${frame}\n\n`);
    return 'handled';
  });
  const one = await client();
  expect(textOf(await one.call('get'))).toBe('json');
  expect(textOf(await one.call('add'))).toBe('events');
  expect(one.received.some(({ method }) => method === 'notifications/message')).toBe(true);
  expect(http.headers.at(-1)).toMatchObject({
    'mcp-session-id': 's1',
    'mcp-protocol-version': '2025-11-25',
  });
});

it('opens a session again that the server has forgotten, also for a mutation', async () => {
  const { client, http } = await open(() => text('done'));
  const one = await client();
  await one.call('get');
  http.forget();
  expect(textOf(await one.call('add', { n: 1 }))).toBe('done');
  http.forget();
  expect(textOf(await one.call('get'))).toBe('done');
  expect(http.sessions).toHaveLength(3);
  expect(http.calls).toHaveLength(3);
});

it('opens a forgotten session again while an earlier call goes on, which still gets its answer', async () => {
  let finish = (): void => {};
  const { client, http } = await open((call, response) => {
    if (objectIn(call.params, 'arguments')['slow'] !== true) return text('quick');
    const body = { jsonrpc: '2.0', id: call.id, result: text('slow') };
    finish = () => json(response, 200, body);
    return 'handled';
  });
  const one = await client();
  const slow = one.call('get', { slow: true });
  await expect.poll(() => http.calls).toHaveLength(1);
  http.forget();
  expect(textOf(await one.call('get'))).toBe('quick');
  expect((await one.ask('ping')).result).toEqual({});
  http.forget();
  // Not a call, but as safe to repeat: the server has not processed it.
  expect((await one.ask('resources/subscribe', { uri: 'x:y' })).result).toEqual({});
  finish();
  expect(textOf(await slow)).toBe('slow');
  expect(http.sessions).toHaveLength(3);
});

it('waits as a 503 response asks, then repeats a read', async () => {
  const { client, http } = await open((_call, response, nth) => {
    if (nth > 1) return text('ok');
    response.setHeader('retry-after', '0');
    response.writeHead(503).end('busy');
    return 'handled';
  });
  expect(textOf(await (await client()).call('get'))).toBe('ok');
  expect(http.calls).toHaveLength(2);
});

it.each(['reset', 'empty 202', 'stream without an answer'])(
  'repeats a read after a %s, and does not repeat a mutation',
  async (how) => {
    const { client, http } = await open((call, response) => {
      const isFirst =
        http.calls.filter(({ params }) => params?.['name'] === call.params?.['name']).length === 1;
      if (!isFirst) return text('ok');
      if (how === 'reset') response.req.socket.destroy();
      else if (how === 'empty 202') response.writeHead(202).end();
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
      return 'handled';
    });
    const one = await client();
    expect(textOf(await one.call('get'))).toBe('ok');
    expect(errorOf(await one.call('add'))).toMatchObject({ code: 'outcome_unknown' });
    expect(errorOf(await one.call('add'))).toMatchObject({ code: 'outcome_unknown' });
    expect(http.calls.map(({ params }) => params?.['name'])).toEqual(['get', 'get', 'add']);
  },
);

it('reports a server that is not there: nothing was executed', async () => {
  const { client } = await open(() => text('ok'), { policy: { maxRetries: 0 } });
  const one = await client();
  await one.call('get');
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
  expect(errorOf(await one.call('add'))).toMatchObject({
    code: 'upstream_unavailable',
    outcome: 'not_executed',
  });
});

const refuses =
  (status: number, body: (call: Message) => string): Behave =>
  (call, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body(call));
    return 'handled';
  };
const expired = { code: -32_602, message: 'checkout session expired' };

it.each([400, 404, 429, 503])(
  'passes an error on that answers a mutation with status %i, and sends the mutation once',
  async (status) => {
    const error = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, error: expired }, null, 2);
    const { client, http } = await open(refuses(status, ({ id }) => error(id)));
    expect(await (await client()).call('add')).toMatchObject({ error: expired });
    expect(http.calls).toHaveLength(1);
  },
);

it('repeats a read that is answered with an error and status 503, then passes the error on', async () => {
  const { client, http } = await open(
    refuses(503, ({ id }) => JSON.stringify({ jsonrpc: '2.0', id, error: expired })),
    { policy: { initialBackoffMs: 1, maxBackoffMs: 1 } },
  );
  expect(await (await client()).call('get')).toMatchObject({ error: expired });
  expect(http.calls).toHaveLength(3);
});

it.each([
  ['add', 404, 'not found', 2],
  ['add', 400, 'checkout session expired', 1],
  ['add', 400, JSON.stringify({ jsonrpc: '2.0', id: 'x', error: expired }), 1],
  ['add', 400, JSON.stringify({ jsonrpc: '2.0', id: null, error: expired }), 1],
  ['add', 404, JSON.stringify({ jsonrpc: '2.0', id: 'x', result: {} }), 1],
])('does not know the outcome of %s after status %i and %s', async (tool, status, body, sends) => {
  const { client, http } = await open(refuses(status, () => body));
  const one = await client();
  const unknown = { code: 'outcome_unknown', outcome: 'unknown' };
  expect(errorOf(await one.call(tool))).toMatchObject(unknown);
  expect(errorOf(await one.call(tool))).toMatchObject(unknown);
  expect(http.calls).toHaveLength(sends);
  // The session may have ended: the next call does not use it.
  await expect.poll(() => http.sessions.length).toBeGreaterThan(1);
});

it('sends an idempotent call twice if each session that is opened for it ends', async () => {
  const { client, http } = await open(
    refuses(404, () => 'not found'),
    { tools: { add: { effect: 'idempotent' } } },
  );
  expect(errorOf(await (await client()).call('add'))).toMatchObject({ outcome: 'unknown' });
  expect(http.calls).toHaveLength(2);
});

it('a 404 without a session is an error of the call', async () => {
  const { client, http } = await open(
    refuses(404, () => 'not found'),
    { isSessionless: true },
  );
  expect(errorOf(await (await client()).call('add'))).toMatchObject({ code: 'not_found' });
  expect(http.calls).toHaveLength(1);
});

it('refuses a request other than a call that ends two sessions', async () => {
  const { client, http } = await open(
    () => text('ok'),
    {},
    (method) => method === 'prompts/get',
  );
  const { error } = await (await client()).ask('prompts/get', { name: 'p' });
  expect(error).toMatchObject({ code: 503 });
  expect(http.sessions.length).toBeLessThanOrEqual(3);
});
