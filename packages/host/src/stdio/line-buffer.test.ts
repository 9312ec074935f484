import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineBuffer } from './line-buffer.js';

const linesOf = (chunks: readonly Buffer[]): string[] => {
  const buffer = new LineBuffer();
  const lines: string[] = [];
  for (const chunk of chunks) buffer.add(chunk, (line) => lines.push(line));
  return lines;
};

describe('lines out of a stream', () => {
  it('are the same wherever the stream was cut, also inside of a character', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n'));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, cuts) => {
        const whole = Buffer.from(lines.map((one) => `${one}\n`).join(''));
        const at = [0, ...cuts.filter((cut) => cut < whole.length), whole.length].toSorted(
          (a, b) => a - b,
        );
        const chunks = at.slice(1).map((end, index) => whole.subarray(at[index], end));
        expect(linesOf(chunks)).toEqual(lines);
      }),
    );
  });

  it('wait for their end', () => {
    expect(linesOf([Buffer.from('one\ntw')])).toEqual(['one']);
  });

  it('are refused when they grow beyond what a message can be', () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    expect(linesOf(Array.from({ length: 10 }, () => mebibyte))).toEqual([]);
    const eleven = Array.from({ length: 11 }, () => mebibyte);
    expect(() => linesOf(eleven)).toThrow('more than 10485760 bytes');
  });
});
