import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { punycodeLength } from './host.js';

const requireFrom = (file: string) => createRequire(createRequire(import.meta.url).resolve(file));
/** The package that X's library uses. The slash avoids Node's deprecated module. */
const { encode } = requireFrom('twitter-text')('punycode/') as { encode: (text: string) => string };

describe('punycodeLength', () => {
  it.each([
    ['', ''],
    ['abc', 'abc-'],
    ['ü', 'tda'],
    ['bücher', 'bcher-kva'],
    // RFC 3492, section 7.1
    ['ليهمابتكلموشعربي؟', 'egbpdaj6bu4bxfgehfvwxn'],
    ['他们为什么不说中文', 'ihqwcrb4cv8a8dqg056pqjye'],
    ['почемужеонинеговорятпорусски', 'b1abfaaepdrnnbgefbadotcwatmq2g4l'],
    ['3年B組金八先生', '3B-ww4c5e180e575a65lsy2b'],
    ['MajiでKoiする5秒前', 'MajiKoi5-783gue6qz075azm5e'],
    ['-> $1.00 <-', '-> $1.00 <--'],
  ])('of %j is that of %j', (text, encoded) => {
    expect(punycodeLength(text)).toBe(encoded.length);
    expect(encode(text).length).toBe(encoded.length);
  });

  it('agrees with the encoder that X’s library uses', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.string({ unit: fc.constantFrom('a', 'ü', '日', '本', '👩', '\u200d', '-', '\u{10FFFF}') }),
    );
    fc.assert(
      fc.property(text, (one) => {
        expect(punycodeLength(one)).toBe(encode(one).length);
      }),
      { numRuns: 2_000 },
    );
  });
});
