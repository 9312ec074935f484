import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret, Secrets } from './secrets.js';

describe('a secret', () => {
  const secret = new Secret('x.token', 'do-not-tell');

  it('shows only its name when it is printed or serialized', () => {
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
  it('redacts permanent and rotating secrets, also inside a JSON document', () => {
    const secrets = new Secrets();
    secrets.add('s', 'stays-for-ever');
    secrets.watchRotating('a-rotating-token');
    const text = JSON.stringify({ a: 'stays-for-ever', b: 'a-rotating&#45;token', c: 1 });
    expect(secrets.scrub(text)).toBe('{"a":"[redacted]","b":"[redacted]","c":1}');
  });
});
