import { PassThrough } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { guardStdout } from './serve.js';

const stdout = () => {
  const stream = new PassThrough();
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { stream: stream as unknown as NodeJS.WriteStream, read: () => text };
};

it('lets only the wire through, and gives stdout back', async () => {
  const { stream, read } = stdout();
  const stray = vi.fn();
  const guard = guardStdout(stream, stray);
  const written = vi.fn();
  stream.write('stray\n');
  stream.write(new Uint8Array([104, 105]), written);
  stream.write('more', 'utf8', written);
  guard.output.write('{"wire":1}\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(read()).toBe('{"wire":1}\n');
  expect(stray.mock.calls).toEqual([['stray\n'], ['hi'], ['more']]);
  expect(written).toHaveBeenCalledTimes(2);
  guard.release();
  stream.write('free');
  await new Promise((resolve) => setImmediate(resolve));
  expect(read()).toBe('{"wire":1}\nfree');
});
