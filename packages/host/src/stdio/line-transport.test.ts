import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { LineTransport } from './line-transport.js';

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A stream whose writes complete when the test releases them. */
const slowWriter = () => {
  const held: (() => void)[] = [];
  const written: string[] = [];
  const stream = new Writable({
    highWaterMark: 8,
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString());
      held.push(done);
    },
  });
  return { stream, written, release: () => held.splice(0).forEach((done) => done()) };
};

const setUp = async (stdout: Writable = new PassThrough()) => {
  const stdin = new PassThrough();
  const onClosed = vi.fn();
  const transport = new LineTransport(stdin, stdout, onClosed);
  const onmessage = vi.fn();
  const onerror = vi.fn();
  const onclose = vi.fn();
  Object.assign(transport, { onmessage, onerror, onclose });
  await transport.start();
  return { stdin, stdout, transport, onmessage, onerror, onclose, onClosed };
};

describe('reading', () => {
  it('parses one message per line, ignores empty lines and answers invalid JSON with an error', async () => {
    const { stdin, stdout, onmessage, onerror } = await setUp();
    stdin.write(`${JSON.stringify(ping)}\r\nno json\n\n${JSON.stringify({ ...ping, id: 2 })}\n`);
    await turn();
    expect(onmessage.mock.calls.map(([message]) => message as unknown)).toEqual([
      ping,
      { ...ping, id: 2 },
    ]);
    expect(JSON.parse(String((stdout as PassThrough).read()))).toMatchObject({
      id: null,
      error: { code: -32_700 },
    });
    expect(onerror).toHaveBeenCalledOnce();
  });

  it('continues after a message handler that throws', async () => {
    const { stdin, onmessage, onerror } = await setUp();
    const bug = new Error('x');
    onmessage.mockImplementationOnce(() => {
      throw bug;
    });
    stdin.write(`${JSON.stringify(ping)}\n${JSON.stringify(ping)}\n`);
    await turn();
    expect(onmessage).toHaveBeenCalledTimes(2);
    expect(onerror).toHaveBeenCalledExactlyOnceWith(bug);
  });

  it('refuses a message that is too long, and continues', async () => {
    const { stdin, stdout, onerror, onmessage, onclose } = await setUp();
    stdin.write('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"text":"');
    for (let count = 0; count < 11; count += 1) stdin.write(Buffer.alloc(1024 * 1024, 'x'));
    stdin.write(`"}}\n${JSON.stringify(ping)}\n`);
    await vi.waitFor(() => expect(onmessage).toHaveBeenCalledExactlyOnceWith(ping), {
      timeout: 30_000,
    });
    const response = (stdout as PassThrough).read() as Buffer;
    expect(JSON.parse(response.toString())).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32_000, message: 'The request exceeds 10485760 bytes.' },
    });
    expect(onerror).toHaveBeenCalledOnce();
    expect(onclose).not.toHaveBeenCalled();
  });
});

describe('writing', () => {
  it('resolves when the output has drained', async () => {
    const { stream, written, release } = slowWriter();
    const { transport } = await setUp(stream);
    const sent = vi.fn();
    const sending = transport.send(ping).then(sent);
    await turn();
    expect(sent).not.toHaveBeenCalled();
    release();
    await sending;
    expect(written).toEqual([`${JSON.stringify(ping)}\n`]);
    expect(stream.listenerCount('drain')).toBe(1);
    expect(stream.listenerCount('error')).toBe(1);
  });

  it('rejects when the connection closes, and after that', async () => {
    const { transport, onclose } = await setUp(slowWriter().stream);
    const sending = transport.send(ping);
    await transport.close();
    await expect(sending).rejects.toThrow('was closed');
    await expect(transport.send(ping)).rejects.toThrow('is closed');
    await transport.close();
    expect(onclose).toHaveBeenCalledOnce();
  });

  it('closes the connection when it fails, without an unhandled error', async () => {
    const stdout = new PassThrough();
    const { onerror, onclose, onClosed } = await setUp(stdout);
    const broken = new Error('EPIPE');
    stdout.destroy(broken);
    await turn();
    expect(onerror).toHaveBeenCalledExactlyOnceWith(broken);
    expect(onclose).toHaveBeenCalledOnce();
    expect(onClosed).toHaveBeenCalledOnce();
    expect(() => stdout.emit('error', new Error('late'))).not.toThrow();
  });

  it('leaves one listener, however many connections a stream has had', async () => {
    const stdout = new PassThrough();
    for (let count = 0; count < 20; count += 1) {
      const { transport } = await setUp(stdout);
      await transport.close();
    }
    expect(stdout.listenerCount('error')).toBe(1);
    expect(stdout.listenerCount('drain')).toBe(0);
  });
});

describe('while the client does not read its responses', () => {
  const COUNT = 20_000;
  const requests = Array.from({ length: COUNT }, (_, id) => `${JSON.stringify({ ...ping, id })}\n`);
  const idOf = ([message]: unknown[]): unknown => (message as { id: number }).id;
  const cancel = (requestId: number) =>
    `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })}\n`;

  /** Responds to each request at once, as a quick tool does. */
  const setUpBlocked = async () => {
    const { stream, written, release } = slowWriter();
    const own = await setUp(stream);
    own.onmessage.mockImplementation((message: { id?: number; method?: string }) => {
      if (message.method !== 'ping') return;
      own.transport.send({ jsonrpc: '2.0', id: message.id ?? 0, result: {} }).catch(() => {});
    });
    /** Waits until nothing more is written. */
    const rest = async (): Promise<void> => {
      for (let before = -1; before !== written.length; await turn()) before = written.length;
    };
    const drain = async (): Promise<void> => {
      for (let before = -1; before !== written.length; await rest()) {
        before = written.length;
        release();
      }
    };
    return { ...own, written, rest, drain };
  };

  it('starts few requests, pauses the input, and answers all of them later', async () => {
    const { stdin, onmessage, rest, drain } = await setUpBlocked();
    for (const line of requests) stdin.write(line);
    await rest();
    expect(onmessage.mock.calls.length).toBeLessThan(50);
    expect(stdin.isPaused()).toBe(true);
    await drain();
    expect(onmessage.mock.calls.map(idOf)).toEqual(requests.map((_, id) => id));
  });

  it('queues error responses as well', async () => {
    const { stdin, written, rest, drain } = await setUpBlocked();
    for (let count = 0; count < COUNT; count++) stdin.write('no json\n');
    await rest();
    expect(written.length).toBeLessThan(50);
    expect(stdin.isPaused()).toBe(true);
    await drain();
    expect(written).toHaveLength(COUNT);
  });

  it('delivers cancellations and responses, and never starts a cancelled request', async () => {
    const { stdin, onmessage, rest, drain } = await setUpBlocked();
    stdin.write(requests.slice(0, 100).join(''));
    await rest();
    const started = onmessage.mock.calls.length;
    const response = { jsonrpc: '2.0', id: 's1', result: {} };
    stdin.write(`${cancel(0)}${cancel(99)}${JSON.stringify(response)}\n`);
    await rest();
    const since = onmessage.mock.calls.slice(started).map(([message]) => message as unknown);
    expect(since).toEqual([JSON.parse(cancel(0)), response]);
    await drain();
    const ids = onmessage.mock.calls.map(idOf);
    expect(ids).toContain(98);
    expect(ids).not.toContain(99);
  });

  it('closes after its input: when the queued requests are started, or after a second', async () => {
    const read = await setUpBlocked();
    read.stdin.end(requests.slice(0, 100).join(''));
    await read.rest();
    expect(read.onclose).not.toHaveBeenCalled();
    await read.drain();
    expect(read.onclose).toHaveBeenCalledOnce();
    expect(read.written).toHaveLength(100);

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const unread = await setUpBlocked();
    unread.stdin.end(requests.slice(0, 100).join(''));
    await unread.rest();
    expect(unread.onclose).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    expect(unread.onclose).toHaveBeenCalledOnce();
    expect(unread.written.length).toBeLessThan(50);
  });

  it('discards queued requests when it is closed', async () => {
    const { stdin, transport, onmessage, onclose, rest, drain } = await setUpBlocked();
    for (const line of requests) stdin.write(line);
    await rest();
    const started = onmessage.mock.calls.length;
    await transport.close();
    await drain();
    expect(onclose).toHaveBeenCalledOnce();
    expect(onmessage).toHaveBeenCalledTimes(started);
  });
});

it('queues requests while 1024 are in flight, until responses or cancellations free a slot', async () => {
  const { stdin, transport, onmessage } = await setUp(new PassThrough().resume());
  const rest = async (): Promise<void> => {
    for (let before = -1; before !== onmessage.mock.calls.length; await turn()) {
      before = onmessage.mock.calls.length;
    }
  };
  for (let id = 0; id < 1100; id++) stdin.write(`${JSON.stringify({ ...ping, id })}\n`);
  await rest();
  expect(onmessage).toHaveBeenCalledTimes(1024);
  await transport.send({ jsonrpc: '2.0', id: 7, result: {} });
  await rest();
  expect(onmessage).toHaveBeenCalledTimes(1025);
  const params = { requestId: 8 };
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params })}\n`);
  await rest();
  expect(onmessage).toHaveBeenCalledTimes(1027);
});

describe('the write of a result', () => {
  const setUpWriting = async (stdout: Writable) => {
    const [confirm, fail] = [vi.fn(), vi.fn()];
    const begin = vi.fn(() => ({ request: undefined, confirm, fail }));
    const transport = new LineTransport(new PassThrough(), stdout, () => {}, begin);
    await transport.start();
    return { transport, begin, confirm, fail };
  };

  it('is confirmed by the callback of its write, also after the connection closed', async () => {
    const { stream, release } = slowWriter();
    const { transport, begin, confirm, fail } = await setUpWriting(stream);
    transport.send(ping).catch(() => {});
    await turn();
    await transport.close();
    expect(begin).toHaveBeenCalledExactlyOnceWith(ping);
    expect(confirm).not.toHaveBeenCalled();
    release();
    await turn();
    expect(confirm).toHaveBeenCalledOnce();
    expect(fail).not.toHaveBeenCalled();
  });

  it.each<[string, () => Writable]>([
    [
      'whose write fails',
      () => new Writable({ write: (_chunk, _e, done) => done(new Error('x')) }),
    ],
    ['that was destroyed', () => new PassThrough().destroy()],
  ])('fails on a stream %s', async (_, streamOf) => {
    const { transport, confirm, fail } = await setUpWriting(streamOf());
    transport.send(ping).catch(() => {});
    await vi.waitFor(() => expect(fail).toHaveBeenCalledOnce(), { timeout: 30_000 });
    expect(confirm).not.toHaveBeenCalled();
  });

  it('is not started on a closed connection', async () => {
    const { transport, begin } = await setUpWriting(new PassThrough());
    await transport.close();
    await expect(transport.send(ping)).rejects.toThrow('is closed');
    expect(begin).not.toHaveBeenCalled();
  });
});

describe('the end of the input', () => {
  it('closes the connection, also if it came before the start', async () => {
    const first = await setUp();
    first.stdin.end();
    await vi.waitFor(() => expect(first.onclose).toHaveBeenCalledOnce(), { timeout: 30_000 });
    const stdin = new PassThrough().destroy();
    const onClosed = vi.fn();
    const late = new LineTransport(stdin, new PassThrough(), onClosed);
    await late.start();
    await vi.waitFor(() => expect(onClosed).toHaveBeenCalledOnce(), { timeout: 30_000 });
  });
});
