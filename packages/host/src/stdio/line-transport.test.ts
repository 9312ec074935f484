import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { LineTransport } from './line-transport.js';

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A stream whose reader is as slow as the test wants. */
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
  it('gives one message a line and passes over what is no JSON', async () => {
    const { stdin, onmessage, onerror } = await setUp();
    stdin.write(`${JSON.stringify(ping)}\r\nno json\n\n${JSON.stringify({ ...ping, id: 2 })}\n`);
    await turn();
    expect(onmessage.mock.calls.map(([message]) => message as unknown)).toEqual([
      ping,
      { ...ping, id: 2 },
    ]);
    expect(onerror).not.toHaveBeenCalled();
  });

  it('goes on after a reader that throws', async () => {
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

  it('refuses a message that is too long, and goes on', async () => {
    const { stdin, stdout, onerror, onmessage, onclose } = await setUp();
    stdin.write('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"text":"');
    for (let count = 0; count < 11; count += 1) stdin.write(Buffer.alloc(1024 * 1024, 'x'));
    stdin.write(`"}}\n${JSON.stringify(ping)}\n`);
    await vi.waitFor(() => expect(onmessage).toHaveBeenCalledExactlyOnceWith(ping), {
      timeout: 30_000,
    });
    const said = (stdout as PassThrough).read() as Buffer;
    expect(JSON.parse(said.toString())).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32_000, message: 'A request may have 10485760 bytes.' },
    });
    expect(onerror).toHaveBeenCalledOnce();
    expect(onclose).not.toHaveBeenCalled();
  });
});

describe('writing', () => {
  it('settles when the reader has room again', async () => {
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

  it('fails when the connection closes meanwhile, and at once after that', async () => {
    const { transport, onclose } = await setUp(slowWriter().stream);
    const sending = transport.send(ping);
    await transport.close();
    await expect(sending).rejects.toThrow('was closed');
    await expect(transport.send(ping)).rejects.toThrow('is closed');
    await transport.close();
    expect(onclose).toHaveBeenCalledOnce();
  });

  it('ends the connection when it fails, and is never an error that nobody handles', async () => {
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

  it('leaves one listener behind, however many connections a stream has had', async () => {
    const stdout = new PassThrough();
    for (let count = 0; count < 20; count += 1) {
      const { transport } = await setUp(stdout);
      await transport.close();
    }
    expect(stdout.listenerCount('error')).toBe(1);
    expect(stdout.listenerCount('drain')).toBe(0);
  });
});

describe('an answer that is written', () => {
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

  it('is not begun on a connection that is closed', async () => {
    const { transport, begin } = await setUpWriting(new PassThrough());
    await transport.close();
    await expect(transport.send(ping)).rejects.toThrow('is closed');
    expect(begin).not.toHaveBeenCalled();
  });
});

describe('the end of the input', () => {
  it('ends the connection, also when it had come before', async () => {
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
