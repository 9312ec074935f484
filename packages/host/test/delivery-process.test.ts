import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { callOf } from './delivery.js';

const file = fileURLToPath(new URL('../dist/fixtures/delivery-server.fixture.js', import.meta.url));
let child: ChildProcessWithoutNullStreams | undefined;
afterEach(() => void child?.kill('SIGKILL'));

const start = () => {
  const started = spawn(process.execPath, [file], { stdio: 'pipe' });
  child = started;
  started.stdin.on('error', () => {});
  const said = createInterface(started.stderr);
  return {
    ...started,
    kill: (signal: NodeJS.Signals) => started.kill(signal),
    exited: once(started, 'exit'),
    /** The next line that it says for us. */
    line: async () => String((await once(said, 'line'))[0]),
  };
};

const lineOf = (message: object): string => `${JSON.stringify(message)}\n`;

it('an answer that was written before the input ended is delivered before the journal closes', async () => {
  const { stdin, stdout, line, exited } = start();
  stdin.end(lineOf(callOf('modern', 'a')));
  const closed = line();
  expect(await text(stdout)).toContain('"id":"a"');
  expect(await closed).toBe('closed after ["a"]');
  expect(await exited).toEqual([0, null]);
});

it('an answer that is given at SIGTERM is delivered before the journal closes', async () => {
  const { stdin, stdout, line, kill, exited } = start();
  stdin.write(lineOf(callOf('modern', 'a', 'order_at_signal')));
  expect(await line()).toBe('begun');
  kill('SIGTERM');
  const closed = line();
  expect(await text(stdout)).toContain('"id":"a"');
  expect(await closed).toBe('closed after ["a"]');
  expect(await exited).toEqual([0, null]);
});

it('an answer is not delivered to a client that has closed the other end of stdout', async () => {
  const { stdin, stdout, line, kill } = start();
  stdin.write(lineOf(callOf('modern', 'a', 'order_at_signal')));
  expect(await line()).toBe('begun');
  stdout.destroy();
  await once(stdout, 'close');
  kill('SIGTERM');
  expect(await line()).toBe('closed after []');
});
