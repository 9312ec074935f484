import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findId, LineBuffer } from './line-buffer.js';

const linesOf = (chunks: readonly Buffer[]): string[] => {
  const buffer = new LineBuffer();
  const lines: string[] = [];
  const handler = {
    line: (text: string) => lines.push(text),
    tooLong: (head: string, tail: string) => lines.push(`${head}…${tail}`),
  };
  for (const chunk of chunks) buffer.add(chunk, handler);
  return lines;
};

describe('lines of a stream', () => {
  it('do not depend on the boundaries of chunks, even inside a character', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n'));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, cuts) => {
        const whole = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const at = [0, ...cuts.filter((cut) => cut < whole.length), whole.length].toSorted(
          (a, b) => a - b,
        );
        const chunks = at.slice(1).map((end, index) => whole.subarray(at[index], end));
        expect(linesOf(chunks)).toEqual(lines);
      }),
    );
  });

  it('are emitted when they are complete', () => {
    expect(linesOf([Buffer.from('one\ntw')])).toEqual(['one']);
  });

  it('that are too long are emitted with their ends only, and do not affect the next lines', () => {
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

const ends = (text: string): [string, string] => [text.slice(0, 1024), text.slice(-1024)];
const long = 'x'.repeat(5000);
const id = fc.oneof(fc.integer(), fc.string({ maxLength: 30 }), fc.uuid());

it('finds the id at every position that clients use', () => {
  const params = { name: 'echo', arguments: { text: long } };
  fc.assert(
    fc.property(id, (given) => {
      const forms = [
        { jsonrpc: '2.0', id: given, method: 'tools/call', params },
        { id: given, jsonrpc: '2.0', method: 'tools/call', params },
        { jsonrpc: '2.0', method: 'tools/call', id: given, params },
        { method: 'tools/call', params, jsonrpc: '2.0', id: given },
        { method: 'tools/call', params, id: given, jsonrpc: '2.0' },
      ];
      for (const form of forms) {
        expect(findId(...ends(JSON.stringify(form)))).toBe(given);
        expect(findId(...ends(`${JSON.stringify(form, null, 1).replaceAll('\n', ' ')}\r`))).toBe(
          given,
        );
      }
    }),
  );
});

it('never finds the id of a nested object', () => {
  const inner = fc.oneof(
    fc.json(),
    id.map((given) => JSON.stringify({ a: long, id: given })),
    id.map((given) => JSON.stringify({ id: given, a: long })),
    id.map((given) => JSON.stringify(`{"a":1,"id":${JSON.stringify(given)}}`)),
  );
  fc.assert(
    fc.property(inner, (params) => {
      for (const text of [
        `{"jsonrpc":"2.0","method":"tools/call","params":${params}}`,
        `{"params":${params},"jsonrpc":"2.0","method":"x"}`,
        `{"jsonrpc":"2.0","method":"x","params":[${params}]}`,
      ]) {
        expect(findId(...ends(text))).toBeNull();
      }
    }),
  );
});

it('never throws', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (head, tail) => {
      const found = findId(head, tail);
      return found === null || typeof found === 'string' || typeof found === 'number';
    }),
  );
  expect(findId('{"id":"\\x","a":1', '')).toBeNull();
});
