import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { callOf, cancelOf, deliveringHost, eras, initialize } from './delivery.js';

/** A stdout whose writes end when the test calls `end`. */
const controlledStdout = () => {
  const lines: string[] = [];
  const held: ((error?: Error) => void)[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    writev: (chunks, done) => {
      lines.push(...chunks.map(({ chunk }) => String(chunk)));
      held.push(done);
      waiting.splice(0).forEach((resume) => resume());
    },
  });
  /** Resolves when the response with this id is being written. */
  const written = async (id: string): Promise<void> => {
    while (!lines.some((line) => line.includes(`"id":"${id}"`))) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  /** Ends the write in progress. */
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

describe.each(eras)('over stdio, a result for a client of the %s protocol', (era) => {
  it('is delivered when its write has ended', async () => {
    const stdout = controlledStdout();
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

  it('is not delivered if its write fails', async () => {
    const stdout = controlledStdout();
    const { host, delivered, send, served } = setUp(stdout.stream);
    send(...opening[era], callOf(era, 'a'));
    if (era === 'legacy') await stdout.written('init').then(() => stdout.end());
    await stdout.written('a');
    stdout.end(new Error('EPIPE'));
    await served.closed;
    await host.close();
    expect(delivered).toEqual([]);
  });

  it('is not delivered if stdout is destroyed before', async () => {
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

  it('is never delivered if its request was cancelled', async () => {
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

  it('is delivered only if it was written, when its cancellation arrives with the request', async () => {
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

  it('is distinguished from others on the same connection', async () => {
    const stdout = controlledStdout();
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

  it('is delivered if its write started before the input ended, however late it ends', async () => {
    const stdout = controlledStdout();
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

const file = fileURLToPath(new URL('../dist/fixtures/delivery-server.fixture.js', import.meta.url));
let child: ChildProcessWithoutNullStreams | undefined;
afterEach(() => void child?.kill('SIGKILL'));

const start = () => {
  const started = spawn(process.execPath, [file], { stdio: 'pipe' });
  child = started;
  started.stdin.on('error', () => {});
  const lines = createInterface(started.stderr);
  return {
    ...started,
    kill: (signal: NodeJS.Signals) => started.kill(signal),
    exited: once(started, 'exit'),
    /** The next line on stderr. */
    line: async () => String((await once(lines, 'line'))[0]),
  };
};

const lineOf = (message: object): string => `${JSON.stringify(message)}\n`;

it('a result that is written before the input ends is delivered before the journal closes', async () => {
  const { stdin, stdout, line, exited } = start();
  stdin.end(lineOf(callOf('modern', 'a')));
  const closed = line();
  expect(await text(stdout)).toContain('"id":"a"');
  expect(await closed).toBe('closed after ["a"]');
  expect(await exited).toEqual([0, null]);
});

it('a result that is returned at SIGTERM is delivered before the journal closes', async () => {
  const { stdin, stdout, line, kill, exited } = start();
  stdin.write(lineOf(callOf('modern', 'a', 'order_at_signal')));
  expect(await line()).toBe('begun');
  kill('SIGTERM');
  const closed = line();
  expect(await text(stdout)).toContain('"id":"a"');
  expect(await closed).toBe('closed after ["a"]');
  expect(await exited).toEqual([0, null]);
});

it('a result is not delivered to a client that has closed stdout', async () => {
  const { stdin, stdout, line, kill } = start();
  stdin.write(lineOf(callOf('modern', 'a', 'order_at_signal')));
  expect(await line()).toBe('begun');
  stdout.destroy();
  await once(stdout, 'close');
  kill('SIGTERM');
  expect(await line()).toBe('closed after []');
});
