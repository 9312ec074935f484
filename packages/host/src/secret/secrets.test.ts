import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from './secret.js';
import { Secrets } from './secrets.js';

describe('a secret', () => {
  const secret = new Secret('x.token', 'do-not-tell');

  it('shows its name and nothing else, however it is printed', () => {
    const shown = [
      String(secret),
      JSON.stringify({ secret }),
      inspect({ deep: { secret } }, { depth: 9, showHidden: true }),
      JSON.stringify({ ...secret }),
      JSON.stringify(Object.getOwnPropertyNames(secret)),
      ['', secret].join(''),
    ].join('\n');
    expect(shown).not.toContain('do-not-tell');
    expect(shown).toContain('[secret x.token]');
    expect(secret.reveal()).toBe('do-not-tell');
  });
});

describe('scrubbing', () => {
  it('takes a secret out of text, JSON, URLs and base64, whatever it consists of', () => {
    const value = fc
      .string({ unit: 'grapheme', minLength: 8 })
      .filter((text) => text.trim().length > 7);
    fc.assert(
      fc.property(value, fc.string(), (given, around) => {
        const secrets = new Secrets();
        secrets.add('s', given);
        const bare = given.trim();
        const said = [
          `${around} ${bare} ${around}`,
          JSON.stringify({ bare }),
          JSON.stringify(JSON.stringify({ bare })),
          Buffer.from(bare).toString('base64'),
          `https://x/?k=${encodeURIComponent(bare)}`,
        ];
        return said.every((text) => !secrets.scrub(text).includes(bare));
      }),
    );
  });

  it('leaves everything else alone, and ignores what is too short to be secret', () => {
    const secrets = new Secrets();
    secrets.watch('abc');
    secrets.watch('');
    expect(secrets.scrub('abc of the abc')).toBe('abc of the abc');
  });

  it('takes the longer one first, where one secret contains another', () => {
    const secrets = new Secrets();
    secrets.watch('secret-1');
    secrets.watch('secret-1-and-more');
    expect(secrets.scrub('x secret-1-and-more y')).toBe('x [redacted] y');
  });

  it('finds basic credentials, of which the secret is the second half', () => {
    const secrets = new Secrets();
    secrets.watch('client-secret');
    for (const name of ['a', 'ab', 'abc']) {
      const basic = Buffer.from(`${name}:client-secret`).toString('base64');
      expect(secrets.scrub(basic)).toContain('[redacted]');
    }
  });

  it('remembers the last of those that are replaced again and again, and all others', () => {
    const secrets = new Secrets();
    secrets.watch('stays-for-ever');
    for (let index = 100; index < 300; index++) secrets.watchPassing(`token-number-${index}`);
    const said = 'stays-for-ever token-number-100 token-number-250 token-number-299';
    expect(secrets.scrub(said)).toBe('[redacted] token-number-100 [redacted] [redacted]');
  });
});
