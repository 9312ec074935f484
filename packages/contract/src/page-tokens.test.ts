import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPageTokens, type TokenBinding } from './page-tokens.js';

const key = (byte: number) => new Uint8Array(32).fill(byte);
const tokens = createPageTokens({ keys: [key(1)] });
const query: TokenBinding = { tool: 'search', account: 'main', args: { q: 'a', box: [1, 2] } };
const reasonOf = (token: string, binding = query, by = tokens) => {
  const decoded = by.decode(binding, token);
  return decoded.ok ? 'accepted' : decoded.reason;
};

describe('a page token', () => {
  it('decodes for its own query', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (cursor) => {
        const plain: unknown = JSON.parse(JSON.stringify(cursor));
        expect(tokens.decode(query, tokens.encode(query, cursor))).toEqual({
          ok: true,
          cursor: plain,
        });
      }),
    );
  });

  it('is the documented format: version, half an HMAC over query and payload, payload', () => {
    const payload = '[{"at":5}]';
    const canonical = '{"account":"main","args":{"box":[1,2],"q":"a"},"tool":"search"}';
    const mac = createHmac('sha256', key(1))
      .update('toolkeel page token 1\n')
      .update(createHash('sha256').update(canonical).digest())
      .update(payload)
      .digest();
    const bytes = Buffer.concat([Buffer.of(1), mac.subarray(0, 16), Buffer.from(payload)]);
    expect(tokens.encode(query, { at: 5 })).toBe(bytes.toString('base64url'));
  });

  it('is short and URL-safe', () => {
    const token = tokens.encode(query, { at: 100 });
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(token.length).toBeLessThan(45);
  });

  it('does not depend on the order of the arguments', () => {
    const token = tokens.encode(query, 1);
    expect(reasonOf(token, { ...query, args: { box: [1, 2], q: 'a' } })).toBe('accepted');
  });

  it.each<[string, TokenBinding]>([
    ['another tool', { ...query, tool: 'list' }],
    ['another account', { ...query, account: 'other' }],
    ['another argument', { ...query, args: { ...query.args, q: 'b' } }],
    ['one argument more', { ...query, args: { ...query.args, sort: 'asc' } }],
    ['one argument less', { ...query, args: { q: 'a' } }],
  ])('is rejected for %s', (_, binding) => {
    expect(reasonOf(tokens.encode(query, 1), binding)).toBe('signature');
  });
});

describe('an invalid token', () => {
  it('is rejected if any bit is changed', () => {
    const bytes = Buffer.from(tokens.encode(query, { at: 5 }), 'base64url');
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(7), (index, bit) => {
        const changed = Buffer.from(bytes);
        changed[index] = (changed[index] ?? 0) ^ (1 << bit);
        expect(tokens.decode(query, changed.toString('base64url')).ok).toBe(false);
      }),
    );
  });

  it('is rejected at any other length', () => {
    const token = tokens.encode(query, { at: 5 });
    for (let length = 0; length < token.length; length += 1) {
      expect(tokens.decode(query, token.slice(0, length)).ok).toBe(false);
    }
    expect(tokens.decode(query, `${token}A`).ok).toBe(false);
  });

  it('is rejected without an exception', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200, unit: 'binary' }), (text) => {
        expect(tokens.decode(query, text).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['malformed', ''],
    ['malformed', 'not a token!'],
    ['malformed', Buffer.alloc(17, 1).toString('base64url')],
    ['malformed', `${tokens.encode(query, 1)}=`],
    ['version', Buffer.concat([Buffer.of(2), Buffer.alloc(20)]).toString('base64url')],
    ['signature', Buffer.concat([Buffer.of(1), Buffer.alloc(20)]).toString('base64url')],
    ['too_long', 'A'.repeat(8193)],
  ])('%s: %j', (reason, token) => {
    expect(reasonOf(token)).toBe(reason);
  });

  it('is rejected if another installation signed it', () => {
    const foreign = createPageTokens({ keys: [key(2)] });
    expect(reasonOf(foreign.encode(query, 1))).toBe('signature');
  });

  it('is rejected in a non-canonical encoding', () => {
    // Six bits of the last character, of which base64 uses only some.
    const token = tokens.encode(query, 1);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const same = alphabet
      .split('')
      .map((last) => token.slice(0, -1) + last)
      .filter((other) => other !== token)
      .filter((other) => Buffer.from(other, 'base64url').equals(Buffer.from(token, 'base64url')));
    expect(same.length).toBeGreaterThan(0);
    for (const other of same) expect(reasonOf(other)).toBe('malformed');
  });
});

describe('keys', () => {
  it('can be rotated', () => {
    const old = createPageTokens({ keys: [key(1)] });
    const rolled = createPageTokens({ keys: [key(2), key(1)] });
    const retired = createPageTokens({ keys: [key(2)] });
    expect(reasonOf(old.encode(query, 1), query, rolled)).toBe('accepted');
    expect(reasonOf(rolled.encode(query, 1), query, retired)).toBe('accepted');
    expect(reasonOf(old.encode(query, 1), query, retired)).toBe('signature');
  });

  it('are required and have a minimum length', () => {
    expect(() => createPageTokens({ keys: [] })).toThrow('keys');
    expect(() => createPageTokens({ keys: [key(1), new Uint8Array(31)] })).toThrow('31 bytes');
  });

  it('are copied', () => {
    const bytes = key(1);
    const own = createPageTokens({ keys: [bytes] });
    bytes.fill(9);
    expect(reasonOf(own.encode(query, 1))).toBe('accepted');
  });
});

describe('invalid options are rejected, naming the field', () => {
  const keys = [key(1)];
  it.each<[string, unknown]>([
    ['options', undefined],
    ['options', null],
    ['keys', {}],
    ['keys', { keys: key(1) }],
    ['keys', { keys: ['k'.repeat(32)] }],
    ['keys', { keys: [undefined] }],
    ['ttlMs', { keys, ttlMs: Number.POSITIVE_INFINITY }],
    ['ttlMs', { keys, ttlMs: Number.NaN }],
    ['ttlMs', { keys, ttlMs: -1 }],
    ['ttlMs', { keys, ttlMs: '5' }],
    ['maxLength', { keys, maxLength: -1 }],
    ['maxLength', { keys, maxLength: 0 }],
    ['maxLength', { keys, maxLength: 31 }],
    ['maxLength', { keys, maxLength: 50.5 }],
    ['maxLength', { keys, maxLength: Number.POSITIVE_INFINITY }],
    ['now', { keys, now: 5 }],
  ])('%s: %o', (field, options) => {
    const make = () => createPageTokens(options as Parameters<typeof createPageTokens>[0]);
    expect(make).toThrow(new RegExp(`\\b${field}\\b`));
    expect(make).not.toThrow(/Cannot read|is not a function|is not iterable/);
  });

  it('the minimum length has room for a small cursor', () => {
    const own = createPageTokens({ keys, maxLength: 32 });
    expect(reasonOf(own.encode(query, 12_345), query, own)).toBe('accepted');
  });
});

describe('limits', () => {
  it('expires to the millisecond', () => {
    let now = 1000;
    const own = createPageTokens({ keys: [key(1)], ttlMs: 500, now: () => now });
    const token = own.encode(query, 1);
    now = 1499;
    expect(reasonOf(token, query, own)).toBe('accepted');
    now = 1500;
    expect(reasonOf(token, query, own)).toBe('expired');
    expect(() => createPageTokens({ keys: [key(1)], ttlMs: 0 })).toThrow('ttlMs');
  });

  it('does not create a token that it would reject', () => {
    const own = createPageTokens({ keys: [key(1)], maxLength: 50 });
    expect(reasonOf(own.encode(query, 'short'), query, own)).toBe('accepted');
    expect(() => own.encode(query, 'x'.repeat(50))).toThrow('50 are allowed');
  });
});
