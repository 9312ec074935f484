import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { callOf, cancelOf, deliveringHost, eras, initialize } from './delivery.js';

/** A stdout whose writes end when, and as, the test wants. */
const heldStdout = () => {
  const lines: string[] = [];
  const held: ((error?: Error) => void)[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    writev: (chunks, done) => {
      lines.push(...chunks.map(({ chunk }) => String(chunk)));
      held.push(done);
      waiting.splice(0).forEach((tell) => tell());
    },
  });
  /** The write that holds the answer with this id, as soon as there is one. */
  const written = async (id: string): Promise<void> => {
    while (!lines.some((line) => line.includes(`"id":"${id}"`))) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  /** Ends the write that is going on. */
  const end = (error?: Error): void => held.shift()?.(error);
  return { stream, written, end };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const setUp = (stdout: Writable) => {
  const own = deliveringHost();
  const stdin = new PassThrough();
  const served = own.host.serveStdio({ stdin, stdout } as never);
  const send = (...messages: object[]): void =>
    void stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  return { ...own, stdin, served, send };
};

const opening = { legacy: [initialize], modern: [] };

describe.each(eras)('over stdio, an answer to a client of the %s protocol', (era) => {
  it('is delivered when its write has ended', async () => {
    const stdout = heldStdout();
    const { host, delivered, send } = setUp(stdout.stream);
    send(...opening[era], callOf(era, 'a'));
    if (era === 'legacy') await stdout.written('init').then(() => stdout.end());
    await stdout.written('a');
    await turn();
    expect(delivered).toEqual([]);
    stdout.end();
    await host.close();
    expect(delivered).toEqual(['a']);
  });

  it('is not delivered when its write fails', async () => {
    const stdout = heldStdout();
    const { host, delivered, send, served } = setUp(stdout.stream);
    send(...opening[era], callOf(era, 'a'));
    if (era === 'legacy') await stdout.written('init').then(() => stdout.end());
    await stdout.written('a');
    stdout.end(new Error('EPIPE'));
    await served.closed;
    await host.close();
    expect(delivered).toEqual([]);
  });

  it('is not delivered when stdout is destroyed before it', async () => {
    const stdout = new PassThrough().resume();
    const { host, delivered, send, served, turnOf } = setUp(stdout);
    send(...opening[era], callOf(era, 'a', 'order_slowly'));
    const { begun, done } = turnOf('a');
    await begun.opened;
    stdout.destroy();
    done.open();
    await host.close();
    await served.close();
    expect(delivered).toEqual([]);
  });

  it('is never delivered when its request was cancelled', async () => {
    const { host, delivered, send, turnOf, served } = setUp(new PassThrough().resume());
    send(...opening[era], callOf(era, 'a', 'order_slowly'));
    const { begun, done } = turnOf('a');
    await begun.opened;
    send(cancelOf(era, 'a'), callOf(era, 'b', 'order_slowly'));
    await turnOf('b').begun.opened;
    done.open();
    turnOf('b').done.open();
    await host.close();
    expect(delivered).toEqual(['b']);
    await served.close();
  });

  it('is delivered only if it was written, when its cancellation came with it', async () => {
    const stdout = new PassThrough();
    const { host, delivered, send, served, turnOf } = setUp(stdout);
    const after = callOf(era, 'b', 'order_slowly');
    send(...opening[era], callOf(era, 'a'), cancelOf(era, 'a'), after);
    await turnOf('b').begun.opened;
    turnOf('b').done.open();
    await host.close();
    const written = String(stdout.read());
    const expected = ['a', 'b'].filter((item) => written.includes(`"id":"${item}"`));
    expect(delivered).toEqual(expected);
    expect(expected).toContain('b');
    await served.close();
  });

  it('is told apart from others on the same connection', async () => {
    const stdout = heldStdout();
    const { host, delivered, send, turnOf } = setUp(stdout.stream);
    const items = ['a', 'b', 'c'];
    send(...opening[era], ...items.map((item) => callOf(era, item, 'order_slowly')));
    if (era === 'legacy') await stdout.written('init').then(() => stdout.end());
    for (const item of items) await turnOf(item).begun.opened;
    turnOf('c').done.open();
    await stdout.written('c');
    stdout.end();
    await turn();
    expect(delivered).toEqual(['c']);
    turnOf('a').done.open();
    await stdout.written('a');
    stdout.end();
    await turn();
    expect(delivered).toEqual(['c', 'a']);
    turnOf('b').done.open();
    await stdout.written('b');
    stdout.end(new Error('EPIPE'));
    await host.close();
    expect(delivered).toEqual(['c', 'a']);
  });

  it('counts when it was written before the input ended, however late its write ends', async () => {
    const stdout = heldStdout();
    const { host, delivered, send, stdin, served } = setUp(stdout.stream);
    send(...opening[era], callOf(era, 'a'));
    stdin.end();
    if (era === 'legacy') await stdout.written('init').then(() => stdout.end());
    await stdout.written('a');
    await served.closed;
    const closing = host.close();
    await turn();
    stdout.end();
    await closing;
    expect(delivered).toEqual(['a']);
  });
});
