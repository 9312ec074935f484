import { afterEach, expect, it } from 'vitest';
import { objectIn, type Id, type Message } from '../src/frame.js';
import { createRig, text, type Rig, type RigOptions } from '../src/rig.fixture.js';

let rig: Rig | undefined;
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

const VERSION = '2026-07-28';
const discover = { supportedVersions: [VERSION], capabilities: { tools: {} } };

const serve = async (options: RigOptions): Promise<string> => {
  rig = createRig({
    settings: { http: { port: 0 }, journal: { url: 'memory:' } },
    onRequest: ({ method }) => (method === 'server/discover' ? discover : undefined),
    ...options,
  });
  const face = await rig.guard.listen();
  close = face.close;
  return `${face.url}/mcp`;
};

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** All frames of a response, JSON or events. */
const framesOf = async (response: Response): Promise<Message[]> => {
  const body = await response.text();
  if (response.headers.get('content-type') === 'application/json')
    return [JSON.parse(body) as Message];
  const data = [...body.matchAll(/^data: (.+)$/gm)].map(([, line = '']) => line);
  return data.map((line) => JSON.parse(line) as Message);
};

const modern = async (
  url: string,
  name: string,
  args: object,
  { id = 1, token, signal }: { id?: Id; token?: Id; signal?: AbortSignal } = {},
): Promise<Message[]> => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(token !== undefined && { progressToken: token }),
  };
  const params = { name, arguments: args, _meta };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...HEADERS,
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
    ...(signal && { signal }),
  });
  return framesOf(response);
};

it('keeps clients with equal ids and progress tokens apart', async () => {
  const url = await serve({
    onCall: ({ id, args }, upstream) => {
      const { progressToken } = objectIn(upstream.received.at(-1)?.params, '_meta');
      const progress = { progressToken, progress: args['n'] };
      upstream.send({ method: 'notifications/progress', params: progress });
      setTimeout(() => upstream.send({ id, result: text(String(args['n'])) }), 20);
      return undefined;
    },
  });
  const answers = await Promise.all(
    [1, 2, 3].map((n) => modern(url, 'get', { n }, { id: 5, token: 'same' })),
  );
  expect(answers).toMatchObject(
    [1, 2, 3].map((progress) => [
      { method: 'notifications/progress', params: { progressToken: 'same', progress } },
      { id: 5, result: text(String(progress)) },
    ]),
  );
  expect(rig?.upstream.starts()).toBe(1);
});

it('takes a closed connection as a cancellation: a repeat of the mutation gets its result', async () => {
  const url = await serve({});
  const upstream = rig!.upstream;
  const controller = new AbortController();
  const first = modern(url, 'add', { n: 1 }, { signal: controller.signal }).catch(() => []);
  await expect.poll(() => upstream.calls).toHaveLength(1);
  controller.abort();
  await first;
  const repeated = modern(url, 'add', { n: 1 }, { id: 2 });
  await expect
    .poll(() => rig!.logs())
    .toContainEqual(expect.objectContaining({ code: 'cancelled' }));
  // The upstream sees no cancellation: the mutation is being executed.
  upstream.send({ id: upstream.calls.at(0)?.id ?? 0, result: text('done') });
  expect((await repeated).at(-1)?.result?.['content']).toMatchObject([
    { text: expect.stringMatching(/^Not executed again/) as string },
    { text: 'done' },
  ]);
  expect(upstream.calls).toHaveLength(1);
});

it('gives each session of an earlier revision an upstream, and ends it with the session', async () => {
  const url = await serve({ onCall: ({ args }) => text(String(args['n'])) });
  const post = (message: object, session?: string) =>
    fetch(url, {
      method: 'POST',
      headers: { ...HEADERS, ...(session !== undefined && { 'mcp-session-id': session }) },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }, null, 2),
    });
  const open = async (): Promise<string> => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
    const response = await post({ id: 1, method: 'initialize', params });
    const session = response.headers.get('mcp-session-id') ?? '';
    await response.text();
    expect((await post({ method: 'notifications/initialized' }, session)).status).toBe(202);
    return session;
  };
  const sessions = [await open(), await open()];
  const call = async (session: string, n: number) => {
    const params = { name: 'get', arguments: { n } };
    return framesOf(await post({ id: 9, method: 'tools/call', params }, session));
  };
  const answers = await Promise.all(sessions.map(call));
  expect(answers.map((frames) => frames.at(-1))).toMatchObject([
    { result: text('0') },
    { result: text('1') },
  ]);
  expect(rig?.upstream.starts()).toBe(2);
  const [first = ''] = sessions;
  await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': first } });
  expect((await post({ id: 3, method: 'ping' }, first)).status).toBe(404);
  expect((await post({ id: 3, method: 'ping' })).status).toBe(400);
});

it('answers malformed requests and foreign hosts without asking the upstream', async () => {
  const url = await serve({});
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
  expect((await post('{')).status).toBe(400);
  expect((await post('[]')).status).toBe(400);
  expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post('{}', { accept: 'text/html' })).status).toBe(406);
  expect((await post('{}', { origin: 'https://evil.example' })).status).toBe(403);
  expect((await fetch(url, { method: 'PUT' })).status).toBe(405);
  expect(rig?.upstream.starts()).toBe(0);
});
