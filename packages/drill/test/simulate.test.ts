import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../dist/drill.js', import.meta.url));

/** Runs the built command as a process. */
function simulate(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, 'simulate', ...args], (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

test('two threads print the same bytes as one, without colours in a pipe', async () => {
  const args = ['--calls', '400', '--cells', 'cell/fast'];
  const [one, two] = await Promise.all(['1', '2'].map((n) => simulate(...args, '--threads', n)));
  expect(one?.out).toContain('toolkeel stac + hedge');
  expect(two).toEqual(one);
  expect(one?.out).not.toContain('\u001B');
});

test('invalid usage exits with code 2 and prints nothing to stdout', async () => {
  const { code, out, err } = await simulate('--calls', 'none');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('--calls must be a whole number');
});
