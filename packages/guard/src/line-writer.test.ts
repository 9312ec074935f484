import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { LineWriter } from './line-writer.js';

it('writes the lines of one turn in their order, and reports each as delivered once', async () => {
  let received = '';
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      received += chunk.toString();
      done();
    },
  });
  const writer = new LineWriter(stream, () => expect.unreachable('the reader keeps up'));
  const lines = Array.from({ length: 12 }, (_, index) => `{"id":${index}}`);
  const delivered: (readonly [string, boolean])[] = [];
  for (const line of lines)
    writer.write(line, (isDelivered) => delivered.push([line, isDelivered]));
  await expect.poll(() => received).toBe(`${lines.join('\n')}\n`);
  await expect.poll(() => delivered).toEqual(lines.map((line) => [line, true]));
});
