import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentHash } from './content-hash.js';

const act = { tool: 'post_tweet', account: 'main', args: { text: 'hi', media: ['m1'] } };

describe('contentHash', () => {
  it('is SHA-256 over the canonical JSON of account, arguments and tool', () => {
    const text = '{"account":"main","args":{"media":["m1"],"text":"hi"},"tool":"post_tweet"}';
    expect(contentHash(act)).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('is stable, because journals store it', () => {
    expect(contentHash(act)).toBe(
      '462abceb8ed89d8b3694dd947358c6ead7f1abb424151b39722ca47707af9bb2',
    );
  });

  it('ignores control arguments at the top level only', () => {
    const args = { ...act.args, idempotency_key: 'k'.repeat(16), allow_duplicate: true };
    expect(contentHash({ ...act, args })).toBe(contentHash(act));
    const nested = { ...act.args, inner: { idempotency_key: 'k' } };
    expect(contentHash({ ...act, args: nested })).not.toBe(
      contentHash({ ...act, args: { ...act.args, inner: {} } }),
    );
  });

  it('treats an undefined argument as absent', () => {
    expect(contentHash({ ...act, args: { ...act.args, quote: undefined } })).toBe(contentHash(act));
  });

  it('changes with the tool, the account and every argument', () => {
    const others = [
      { ...act, tool: 'reply' },
      { ...act, account: 'other' },
      { ...act, args: { text: 'hi', media: ['m2'] } },
      { ...act, args: { text: 'hi' } },
      { ...act, args: { text: 'hi', media: ['m1'], extra: null } },
    ];
    const all = [act, ...others].map(contentHash);
    expect(new Set(all).size).toBe(all.length);
  });

  it('does not depend on the order of arguments, and differs for different ones', () => {
    const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(args, args, (a, b) => {
        const reversed = Object.fromEntries(Object.entries(a).toReversed());
        expect(contentHash({ ...act, args: reversed })).toBe(contentHash({ ...act, args: a }));
        const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
        if (isDeepStrictEqual(plain(a), plain(b))) return;
        expect(contentHash({ ...act, args: a })).not.toBe(contentHash({ ...act, args: b }));
      }),
    );
  });
});
