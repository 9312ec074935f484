import fc from 'fast-check';
import { expect, it } from 'vitest';
import { secretForms } from './secret-forms.js';

const secret = fc.string({ unit: 'grapheme', minLength: 6 });

it('finds a secret in base64, whatever stands before and after it', () => {
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      const said = Buffer.from(`${before}${value}${after}`);
      const forms = secretForms(value);
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = said.toString(encoding);
        expect(forms.some((form) => text.includes(form))).toBe(true);
      }
    }),
  );
});

it('finds it in JSON, in JSON within JSON, and in a URL', () => {
  fc.assert(
    fc.property(secret, (value) => {
      const forms = secretForms(value);
      const json = JSON.stringify({ value });
      for (const text of [value, json, JSON.stringify(json)]) {
        expect(forms.some((form) => text.includes(form))).toBe(true);
      }
    }),
  );
  expect(secretForms('a b/c&d')).toContain('a%20b%2Fc%26d');
});

it('is too long to be found by chance', () => {
  fc.assert(
    fc.property(secret, (value) => {
      expect(Math.min(...secretForms(value).map(({ length }) => length))).toBeGreaterThan(5);
    }),
  );
});
