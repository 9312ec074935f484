import { createRedactor } from '@toolkeel/pack-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from './parse-json.js';

describe('parseJson', () => {
  it('equals JSON.parse for values that can be serialized', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 10 }), (text) => {
        const parsed = parseJson(text);
        if (!text.includes('\\u')) expect(parsed).toEqual(JSON.parse(text));
        expect(JSON.stringify(parsed)).not.toMatch(/\\ud[89a-f]/i);
      }),
    );
  });

  it('replaces lone surrogates and removes a byte order mark', () => {
    expect(parseJson(String.raw`"a\ud800b"`)).toBe('a\uFFFDb');
    expect(parseJson(String.raw`{"a\ud800b":1}`)).toEqual({ 'a\uFFFDb': 1 });
    expect(parseJson(String.raw`"\ud83d\ude00"`)).toBe('😀');
    expect(parseJson('\uFEFF{"a":1e300}')).toEqual({ a: 1e300 });
    expect(() => parseJson('{"a":')).toThrow(SyntaxError);
  });

  it('replaces infinite numbers by null', () => {
    expect(parseJson('{"a":1e999,"b":[-1e999,2]}')).toEqual({ a: null, b: [null, 2] });
    expect(parseJson(`[${'9'.repeat(400)}]`)).toEqual([null]);
  });

  it('cuts deep nesting', () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(JSON.stringify(parseJson(deep(60)))).toBe(deep(60));
    const cut = JSON.stringify(parseJson(`{"a":${deep(200_000)},"b":1}`));
    expect(cut).toContain('nested too deeply');
    expect(cut).toContain('"b":1');
    expect(cut.length).toBeLessThan(500);
  });

  it('keeps members such as __proto__', () => {
    const parsed = parseJson('{"__proto__":{"x":1e999},"constructor":"c"}') as object;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(JSON.stringify(parsed)).toBe('{"__proto__":{"x":null},"constructor":"c"}');
  });

  it('redacts credentials in any encoding', () => {
    const secret = 'a/b+c "d';
    const escaped = [...secret].map(
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    const percent = [...secret].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
    const forms = [
      JSON.stringify(secret),
      `"x${escaped.join('')}y"`,
      String.raw`"x a\/b+c \"d y"`,
      `"https://x.example/?k=${encodeURIComponent(secret)}&n=2"`,
      `"https://x.example/?k=${percent}&n=%"`,
      `"?k=${encodeURIComponent(percent)}"`,
      `{"${escaped.join('')}":1}`,
    ];
    const secrets = createRedactor();
    secrets.add(secret);
    secrets.add('12345678');
    for (const form of forms) {
      const text = JSON.stringify(parseJson(`{"a":[${form}],"b":1}`, secrets));
      expect(text).toContain('[redacted]');
      expect(text).toContain('"b":1');
      for (const trace of ['a/b', 'a%2', '%61', '%2561']) expect(text).not.toContain(trace);
    }
    expect(parseJson('{"a":12345678,"b":5}', secrets)).toEqual({ a: null, b: 5 });
  });

  it('takes linear time for numbers of 299 digits', () => {
    const number = '1'.repeat(299);
    const text = `[${Array.from({ length: 30_000 }, () => number).join(',')}]`;
    const bare = cpuOf(() => JSON.parse(text));
    const ours = cpuOf(() => parseJson(text));
    // 9 MB. A quadratic search took about 300 times as long.
    expect(ours).toBeLessThan(bare * 4 + 200);
  });

  it('takes linear time for one infinite number among millions of values', () => {
    const text = `[1e999${',[]'.repeat(1_000_000)}]`;
    const bare = cpuOf(() => JSON.parse(text));
    expect(cpuOf(() => parseJson(text))).toBeLessThan(bare * 4 + 500);
  });
});

/** CPU time in milliseconds, which does not depend on the load of the machine. */
function cpuOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
