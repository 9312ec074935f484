import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineBuffer } from './line-buffer.js';

const linesOf = (chunks: readonly Buffer[]): string[] => {
  const buffer = new LineBuffer();
  const lines: string[] = [];
  const take = {
    line: (text: string) => lines.push(text),
    tooLong: (head: string, tail: string) => lines.push(`${head}…${tail}`),
  };
  for (const chunk of chunks) buffer.add(chunk, take);
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

  it('that grow beyond what a message can be are given by their ends, and the next are whole', () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    const ten = Array.from({ length: 10 }, () => mebibyte);
    const [begin, end] = [Buffer.from('begin'), Buffer.from('end\nnext\n')];
    expect(linesOf([...ten, Buffer.from('\n')]).map(({ length }) => length)).toEqual([
      10 * 1024 * 1024,
    ]);
    const [first = '', ...others] = linesOf([begin, ...ten, ...ten, end]);
    expect(first).toMatch(/^beginx{1019}…x{1021}end$/);
    expect(others).toEqual(['next']);
  });
});
