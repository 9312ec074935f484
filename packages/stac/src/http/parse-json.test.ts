import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from './parse-json.js';

describe('JSON from outside', () => {
  it('is what JSON.parse says, wherever that can be written again', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const parsed = parseJson(text);
        if (!text.includes('\\u')) expect(parsed).toEqual(JSON.parse(text));
        expect(JSON.stringify(parsed)).not.toMatch(/\\ud[89a-f]/i);
      }),
    );
  });

  it('is repaired, refused or freed of a mark', () => {
    expect(parseJson(String.raw`"a\ud800b"`)).toBe('a\uFFFDb');
    expect(parseJson(String.raw`"\ud83d\ude00"`)).toBe('😀');
    expect(parseJson('\uFEFF{"a":1e300}')).toEqual({ a: 1e300 });
    expect(() => parseJson('{"a":1e999}')).toThrow(SyntaxError);
    expect(() => parseJson(`[${'9'.repeat(400)}]`)).toThrow(SyntaxError);
    expect(() => parseJson('{"a":')).toThrow(SyntaxError);
  });
});
