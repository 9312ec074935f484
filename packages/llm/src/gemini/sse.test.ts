import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sseData } from './sse.js';

async function* chunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  let at = 0;
  for (const size of sizes) yield bytes.subarray(at, (at += size));
  yield bytes.subarray(at);
}

async function parsed(text: string, sizes: readonly number[] = []): Promise<string[]> {
  const found: string[] = [];
  for await (const data of sseData(chunks(new TextEncoder().encode(text), sizes))) found.push(data);
  return found;
}

describe('sseData', () => {
  it.for([
    ['data: a\n\ndata: b\n\n', ['a', 'b']],
    ['data:a\r\n\r\ndata: b\r\rdata: c\n\n', ['a', 'b', 'c']],
    [': keep-alive\ndata: a\n\n', ['a']],
    [': keep-alive\n\n: again\n\n', []],
    ['event: x\nid: 1\ndata: a\ndata: b\n\n', ['a\nb']],
    ['data: a\n\ndata: cut off', ['a']],
    ['data: a\n\ndata: cut off\n', ['a']],
  ] as const)('%j', async ([text, expected]) => {
    expect(await parsed(text)).toEqual(expected);
  });

  it('does not depend on how the bytes are split', async () => {
    const line = fc.oneof(
      fc.constantFrom('', ': comment', 'event: x', 'data:', 'data: {"a":"é😀"}'),
      fc.string({ unit: 'grapheme' }),
    );
    const end = fc.constantFrom('\n', '\r\n', '\r');
    const text = fc
      .array(fc.tuple(line, end))
      .map((lines) => lines.map(([one, eol]) => one + eol).join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat({ max: 7 })), async (given, sizes) => {
        expect(await parsed(given, sizes)).toEqual(await parsed(given));
      }),
    );
  });
});
