import { PassThrough } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { guardStdout } from './serve.js';

const stdout = () => {
  const stream = new PassThrough();
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { stream: stream as unknown as NodeJS.WriteStream, read: () => text };
};

it('reserves stdout for the transport until it is released', async () => {
  const { stream, read } = stdout();
  const onStray = vi.fn();
  const guard = guardStdout(stream, onStray);
  const written = vi.fn();
  stream.write('stray\n');
  stream.write(new Uint8Array([104, 105]), written);
  stream.write('more', 'utf8', written);
  guard.output.write('{"wire":1}\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(read()).toBe('{"wire":1}\n');
  expect(onStray.mock.calls).toEqual([['stray\n'], ['hi'], ['more']]);
  expect(written).toHaveBeenCalledTimes(2);
  guard.release();
  stream.write('free');
  await new Promise((resolve) => setImmediate(resolve));
  expect(read()).toBe('{"wire":1}\nfree');
});
