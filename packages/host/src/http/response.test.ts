import { afterEach, expect, it, vi } from 'vitest';
import { onResponseEnd, responseFinished } from './response.js';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

type Source = NonNullable<ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]>;

const streaming = (source: Source) =>
  new Response(new ReadableStream(source), { status: 201, headers: { a: 'b' } });

it('calls back at the end of the body, which is unchanged', async () => {
  const onEnd = vi.fn();
  const response = onResponseEnd(Response.json({ text: 'hi' }, { status: 202 }), onEnd);
  expect(response.status).toBe(202);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(onEnd).not.toHaveBeenCalled();
  expect(await response.json()).toEqual({ text: 'hi' });
  expect(onEnd).toHaveBeenCalledOnce();
});

it('calls back at once without a body', () => {
  const onEnd = vi.fn();
  onResponseEnd(new Response(null, { status: 202 }), onEnd);
  expect(onEnd).toHaveBeenCalledOnce();
});

it('calls back when the reader cancels, and cancels the source', async () => {
  const [onEnd, cancel] = [vi.fn(), vi.fn()];
  const response = onResponseEnd(streaming({ cancel }), onEnd);
  const reader = response.body?.getReader();
  const read = reader?.read();
  await reader?.cancel('enough');
  expect(await read).toMatchObject({ done: true });
  expect(onEnd).toHaveBeenCalledOnce();
  expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
});

it('calls back when the body fails, and passes on the error', async () => {
  const onEnd = vi.fn();
  const broken = new Error('broken');
  const response = onResponseEnd(
    streaming({ start: (controller) => controller.error(broken) }),
    onEnd,
  );
  await expect(response.text()).rejects.toBe(broken);
  expect(onEnd).toHaveBeenCalledOnce();
});

const open: (() => void)[] = [];
afterEach(() => open.splice(0).forEach((close) => close()));

/** A server on a real socket, and the responses to a client's requests. */
const setUp = async (request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n') => {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    responses.push(response);
    server.emit('responding');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  open.push(() => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  });
  client.write(request);
  const count = request.split('HTTP/1.1').length - 1;
  while (responses.length < count) await once(server, 'responding');
  return { client, responses, response: responses[0] as ServerResponse };
};

/** More than the buffers of two sockets hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);
const CLOSED = 'closed before';

it.each(['HTTP/1.1\r\n', 'HTTP/1.1\r\nconnection: close\r\n'])(
  'resolves when a response was written completely (%j)',
  async (head) => {
    const { client, response } = await setUp(`GET / ${head}host: x\r\n\r\n`);
    client.resume();
    const finished = responseFinished(response);
    response.end('answer');
    await expect(finished).resolves.toBeUndefined();
  },
);

it('rejects when the client disconnects before the response', async () => {
  const { client, response } = await setUp();
  const finished = responseFinished(response);
  client.destroy();
  await expect(finished).rejects.toThrow(CLOSED);
  response.end('answer');
  await expect(responseFinished(response)).rejects.toThrow(CLOSED);
});

it('rejects when the client has closed its half of the connection', async () => {
  const { client, response } = await setUp();
  const finished = responseFinished(response);
  client.end();
  await once(response.req.socket, 'end');
  response.end('answer');
  await expect(finished).rejects.toThrow(CLOSED);
});

it.each<[string, (client: Socket) => unknown]>([
  ['resets', (client) => client.resetAndDestroy()],
  ['closes', (client) => client.destroy()],
])(
  'rejects when the client %s the connection during the response, although Node emits finish',
  async (_, end) => {
    const { client, response } = await setUp();
    client.pause();
    const finished = responseFinished(response);
    response.end(LARGE);
    client.once('readable', () => end(client));
    await expect(finished).rejects.toThrow(CLOSED);
  },
);

it.each<[string, (response: ServerResponse) => void]>([
  ['destroys the connection', ({ req }) => req.socket.destroy()],
  ['destroys the response', (response) => response.destroy(new Error('x'))],
])('rejects when the server %s during the response', async (_, end) => {
  const { client, response } = await setUp();
  client.pause();
  const finished = responseFinished(response);
  response.end(LARGE);
  end(response);
  await expect(finished).rejects.toThrow(CLOSED);
});

it('rejects for a response that has already ended', async () => {
  const { response } = await setUp();
  response.end('something else');
  await expect(responseFinished(response)).rejects.toThrow(CLOSED);
});

it('resolves for a pipelined request only after the response before it', async () => {
  const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
  const { client, responses } = await setUp(`${get}${get}`);
  client.resume();
  const [first, second] = responses as [ServerResponse, ServerResponse];
  const order: string[] = [];
  const finished = [
    responseFinished(second).then(() => order.push('second')),
    responseFinished(first).then(() => order.push('first')),
  ];
  second.end('2');
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  first.end('1');
  await Promise.all(finished);
  expect(order).toEqual(['first', 'second']);
});

it('rejects for a pipelined request that was never answered', async () => {
  const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
  const { client, responses } = await setUp(`${get}${get}`);
  const [first, second] = responses as [ServerResponse, ServerResponse];
  const finished = [responseFinished(first), responseFinished(second)];
  second.end('2');
  client.destroy();
  await Promise.all(finished.map((promise) => expect(promise).rejects.toThrow(CLOSED)));
});
