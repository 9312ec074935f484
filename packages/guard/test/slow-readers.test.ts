import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Message } from '../src/frame.js';
import { frameOf } from '../src/frame.js';
import { eventsOf, httpLink } from '../src/http-link.js';
import { SseStream } from '../src/sse.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(handle: (message: Message, response: ServerResponse) => void) {
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      handle(body === '' ? { jsonrpc: '2.0' } : (JSON.parse(body) as Message), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const MEGABYTE = 'x'.repeat(1024 * 1024);
const answer = (id: Message['id']) => JSON.stringify({ jsonrpc: '2.0', id, result: {} });

it('a stream of the server is not read while the client does not read', async () => {
  const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { data: MEGABYTE } };
  const COUNT = 40;
  const url = await listen(({ id, method }, response) => {
    if (method !== 'tools/call') {
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(answer(id));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let n = 0; n < COUNT; n++) response.write(`data: ${JSON.stringify(notice)}\n\n`);
    response.end(`data: ${answer(id)}\n\n`);
  });
  const received: Message[] = [];
  let onFrame = (): void => {};
  const next = () => new Promise<void>((resolve) => (onFrame = resolve));
  const link = httpLink({
    name: 'test',
    url,
    headers: {},
    log: () => {},
    scrub: (text) => text,
    schemaOf: () => undefined,
  })({
    onFrame: ({ message }) => {
      received.push(message);
      if (message.method === 'notifications/message') link.pause();
      onFrame();
    },
    onFailed: () => {},
    onRetired: () => {},
    onClosed: () => {},
    onBlocked: () => {},
  });
  closing.push(() => link.close());
  const notices = () => received.filter(({ method }) => method !== undefined).length;
  const first = next();
  link.send(frameOf({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params: {} }));
  await first;
  for (let id = 0; id < 20; id++) {
    const answered = next();
    link.send(frameOf({ jsonrpc: '2.0', id, method: 'ping' }));
    await answered;
  }
  expect(notices()).toBe(1);
  while (!received.some(({ id }) => id === 'call')) {
    const more = next();
    link.resume();
    await more;
  }
  expect(notices()).toBe(COUNT);
});

describe('events of a stream', () => {
  const read = async (chunks: readonly string[]) => {
    const given = async function* () {
      for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
    };
    const found: string[] = [];
    for await (const { data } of eventsOf(given())) found.push(data);
    return found;
  };

  it.each(['\n', '\r\n', '\r'])('are the same, however they are cut: %j', async (end) => {
    const text = `data: one${end}${end}: comment${end}${end}data: two${end}data: lines${end}${end}data: open`;
    for (let size = 1; size <= text.length; size++) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const found = await read(chunks);
      expect(found.filter((data) => data !== '')).toEqual(['one', 'two\nlines']);
    }
  });

  it('are put together once, so that a large one does not block the process', async () => {
    const split = vi.spyOn(RegExp.prototype, Symbol.split);
    closing.push(() => split.mockRestore());
    const chunk = 'y'.repeat(1000);
    const [data = ''] = await read(['data: ', ...Array<string>(2000).fill(chunk), '\n\n']);
    expect(data).toHaveLength(2_000_000);
    const scanned = split.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    expect(scanned).toBeLessThan(3 * data.length);
  });
});

describe('a client over HTTP that does not read', () => {
  it('is cut off, can fetch what it missed, and costs a bounded amount of memory', async () => {
    const stream = new SseStream('1', true);
    const cut = new Promise<void>((resolve) => {
      void listen((_, response) => {
        stream.attach(response);
        response.on('close', resolve);
        for (let n = 0; n < 100; n++) {
          stream.send(frameOf({ jsonrpc: '2.0', method: 'n', params: { n, data: MEGABYTE } }));
        }
      }).then(async (url) => {
        // It is cut off before or after its headers have arrived.
        const response = await fetch(url).catch(() => undefined);
        closing.push(() => response?.body?.cancel().catch(() => {}));
      });
    });
    await cut;
    expect(stream.isAttached).toBe(false);
    expect(stream.size).toBeLessThanOrEqual(16 * 1024 * 1024);
    const url = await listen((_, response) => {
      stream.attach(response, 1);
      stream.end(frameOf({ jsonrpc: '2.0', id: 1, result: {} }), 200);
    });
    const rest = await (await fetch(url)).text();
    expect(rest).toContain('"n":99');
    expect(rest).not.toContain('"n":50,');
    expect(rest).toContain(answer(1));
  });

  it('gets one result of any size', async () => {
    const data = MEGABYTE.repeat(40);
    const url = await listen((_, response) => {
      const stream = new SseStream('1', false);
      stream.attach(response);
      stream.open();
      stream.end(frameOf({ jsonrpc: '2.0', id: 1, result: { data } }), 200);
    });
    expect((await (await fetch(url)).text()).length).toBeGreaterThan(data.length);
  });
});
