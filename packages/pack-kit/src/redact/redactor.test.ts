import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoes } from '../testing/index.js';
import { createRedactor, type Redactor } from './redactor.js';

const redactorFor = (...secrets: readonly string[]): Redactor => {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
};

const secret = 'tok-ABC/def+0123_456.789=';

describe.each(echoes)('a secret written with $name', ({ write }) => {
  const { redact, redactJson, contains } = redactorFor(secret);

  it('is removed from text, and the rest is kept', () => {
    const text = redact(`before ${write(secret)} after`);
    expect(text).toMatch(/^before .*\[redacted\].* after$/s);
    expect(contains(text)).toBe(false);
    // No part of the secret is left in any reading of the rest.
    expect(redactorFor('tok-ABC', '0123_456').contains(text)).toBe(false);
  });

  it('is removed from a JSON document, which stays valid', () => {
    const given = {
      say: write(secret),
      [write(secret)]: [1, { deep: write(secret) }],
      kept: 'yes',
    };
    for (const text of [JSON.stringify(given), `${JSON.stringify(given, null, 2)}\n`]) {
      const document: unknown = JSON.parse(redact(text));
      expect(document).toMatchObject({ kept: 'yes', say: expect.stringContaining('[redacted]') });
      expect(contains(JSON.stringify(document))).toBe(false);
    }
    expect(JSON.stringify(redactJson(given))).not.toContain(JSON.stringify(write(secret)));
  });
});

describe('ordinary text', () => {
  it('is returned unchanged', () => {
    const { redact, redactJson } = redactorFor(secret, 'production', '4815162342');
    const text = '50% off &amp; more\nnews: C:\\new, caf%C3%A9, 12 productions, 14815162342';
    expect(redact(text)).toBe(text);
    fc.assert(
      fc.property(fc.jsonValue(), (doc) => {
        const before = JSON.stringify(doc);
        expect(JSON.stringify(redactJson(doc))).toBe(before);
        expect(redact(before)).toBe(before);
      }),
    );
  });

  it('is not changed by a short or common secret', () => {
    const { redact } = redactorFor('abc', 'true', 'public', 'together', '123456');
    expect(redact('abc is true')).toBe('abc is true');
    expect(redact('publication republic to get her 1234567')).toBe(
      'publication republic to get her 1234567',
    );
    expect(redact('"public": together, 123456')).toBe('"[redacted]": [redacted], [redacted]');
    expect(redact(Buffer.from('me:public').toString('base64'))).toContain('[redacted]');
  });
});

describe('secrets', () => {
  it('are matched longest first if one contains another', () => {
    const { redact } = redactorFor('secret-1', 'secret-1-and-more');
    expect(redact('x secret-1-and-more y')).toBe('x [redacted] y');
  });

  it('of several lines are found line by line, as logs print them', () => {
    const lines = ['MIIEvQIBADANBgkqhkiG9w0', 'BAQEFAASCBKcwggSjAgEAAoIB', 'Kx9='];
    const pem = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'];
    for (const separator of ['\n', '\r\n', String.raw`\n`]) {
      const { redact } = redactorFor(pem.join(separator));
      expect(redact(pem.join('\n'))).not.toContain('MIIE');
      expect(pem.map(redact)).toEqual([
        '-----BEGIN PRIVATE KEY-----',
        '[redacted]',
        '[redacted]',
        'Kx9=',
        '-----END PRIVATE KEY-----',
      ]);
    }
  });

  it('that are all digits turn a number into null', () => {
    const { redact, redactJson } = redactorFor('123456789');
    expect(redactJson({ n: [123456789, 1234567890, 5] })).toEqual({ n: [null, 1234567890, 5] });
    expect(redact('{"n":123456789}')).toBe('{"n":null}');
  });

  it('are redacted in keys such as __proto__', () => {
    const { redactJson } = redactorFor(secret);
    const doc = redactJson(JSON.parse(`{"__proto__":"${secret}","constructor":1}`));
    expect(Object.entries(doc as object)).toEqual([
      ['__proto__', '[redacted]'],
      ['constructor', 1],
    ]);
  });

  it('of any characters are found in text, JSON, JSON inside JSON, URLs and base64', () => {
    const value = fc
      .string({ unit: 'grapheme', minLength: 8 })
      .filter((text) => text.replaceAll(/[\s\p{C}\p{M}\p{Z}]/gu, '').length > 7);
    fc.assert(
      fc.property(value, fc.string(), (given, around) => {
        const { redact } = redactorFor(given);
        const bare = given.trim();
        const texts = [
          `${around} ${bare} ${around}`,
          JSON.stringify({ bare }),
          JSON.stringify(JSON.stringify({ bare })),
          Buffer.from(bare).toString('base64'),
          `https://x/?k=${encodeURIComponent(Buffer.from(bare).toString())}`,
          `https://x/?${new URLSearchParams({ bare }).toString()}`,
        ];
        for (const text of texts) expect(redact(text)).toContain('[redacted]');
      }),
    );
  });

  it('are found in a document if they are found in one of its strings', () => {
    const way = fc.constantFrom(...echoes);
    const noise = fc.stringMatching(/^(?:[%&#;x\\u0-9a-f"]|amp|\n){0,20}$/);
    fc.assert(
      fc.property(way, way, noise, noise, (first, second, before, after) => {
        const { contains, redactJson } = redactorFor(secret);
        const value = `${before} ${second.write(first.write(secret))} ${after}`;
        if (!contains(value)) return;
        expect(contains(JSON.stringify({ value }))).toBe(true);
        expect(contains(JSON.stringify(redactJson({ value })))).toBe(false);
      }),
    );
  });

  it('that rotate are kept for a limited time, permanent ones forever', () => {
    const added: string[] = [];
    const redactor = createRedactor({ onSecret: (value) => added.push(value) });
    redactor.add('the-client-secret');
    for (let index = 100; index < 200; index++) redactor.addRotating(`token-number-${index}`);
    redactor.addRotating('token-number-199');
    expect(added).toHaveLength(101);
    expect(redactor.contains('token-number-100')).toBe(false);
    expect(redactor.contains('token-number-150')).toBe(true);
    expect(redactor.contains('the-client-secret')).toBe(true);
  });
});

describe('hostile text', () => {
  const repeat = (text: string) => (length: number) => text.repeat(length / text.length);
  it.each<[string, (length: number) => string]>([
    ['backslashes', repeat('\\')],
    ['backslashes and quotes', repeat('\\"')],
    ['percent signs', repeat('%25')],
    ['ampersands', repeat('&amp;')],
    ['an entity of zeros', (length) => `&#${'0'.repeat(length)}`],
    ['white space', repeat(' ')],
    ['invisible characters', repeat('\u200B')],
    ['beginnings of the secret', repeat(secret.slice(0, -1))],
    ['the secret itself', repeat(`${secret} `)],
    ['opened brackets', repeat('[')],
    ['strings', repeat('{"\\"')],
  ])('takes linear time: %s', (_, write) => {
    const { redact } = redactorFor(secret, ...Array.from({ length: 60 }, (__, n) => `other-${n}`));
    const cost = (length: number): number => {
      const text = write(length);
      return Math.min(...[1, 2, 3].map(() => cpuOf(() => redact(text))));
    };
    cost(20_000);
    const [small, large] = [cost(20_000), cost(320_000)];
    // Sixteen times the text; quadratic work would be 256 times.
    expect(large).toBeLessThan(16 * 4 * Math.max(small, 1));
  });
});

/** CPU time in milliseconds: independent of other load on the machine. */
function cpuOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
