import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Tasks } from '../../src/fixtures/store-child.fixture.js';

const script = fileURLToPath(
  new URL('../../dist/fixtures/store-child.fixture.js', import.meta.url),
);

/** Starts a child process with a task; resolves at its first output. */
export async function startChild<K extends keyof Tasks>(
  task: K,
  options: Tasks[K],
): Promise<ChildProcess> {
  const args = [script, task, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the process ended with ${code}`)));
  });
  return child;
}

/** Sends SIGKILL, and resolves when the process has exited. */
export async function killChild(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await gone;
}

/** Runs a task in a child process; `around` is prepended to its command. */
export async function inChild<K extends keyof Tasks>(
  task: K,
  options: Tasks[K],
  wrapper: readonly string[] = [],
): Promise<unknown> {
  const command = [process.execPath, script, task, JSON.stringify(options)];
  const [program, ...args] = [...wrapper, ...command];
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`the process ended with ${code}: ${err}`);
  return JSON.parse(out) as unknown;
}
