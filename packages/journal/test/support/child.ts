import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Tasks } from '../../src/fixtures/store-child.fixture.js';

const script = fileURLToPath(
  new URL('../../dist/fixtures/store-child.fixture.js', import.meta.url),
);

/** Has another process do a task; `around` is put before its command. */
export async function inChild<K extends keyof Tasks>(
  task: K,
  options: Tasks[K],
  around: readonly string[] = [],
): Promise<unknown> {
  const command = [process.execPath, script, task, JSON.stringify(options)];
  const [program, ...args] = [...around, ...command];
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
