import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nfc } from './strings.js';

const mark = fc.constantFrom('\u0301', '\u0316', '\u0345', '\u3099', '\u{1E8D0}', '\u{1D16D}');
const marked = fc.tuple(fc.constantFrom('e', '日', 'か', '\u1100\u1161', ''), mark, fc.nat(40));

describe('nfc', () => {
  it('is that of the language for a text with as many marks as a person writes', () => {
    const text = fc
      .array(marked, { maxLength: 60 })
      .map((all) => all.map(([letter, sign, times]) => letter + sign.repeat(times)).join('日'));
    fc.assert(
      fc.property(text, (one) => {
        expect(nfc(one)).toBe(one.normalize('NFC'));
      }),
    );
  });

  it('means the same, however many marks a text has', () => {
    const text = fc
      .array(fc.tuple(mark, fc.integer({ min: 1, max: 900 })), { minLength: 1, maxLength: 4 })
      .map((all) => `e${all.map(([sign, times]) => sign.repeat(times)).join('')}`);
    fc.assert(
      fc.property(text, (one) => {
        expect(nfc(one).normalize('NFC')).toBe(one.normalize('NFC'));
      }),
    );
  });
});
