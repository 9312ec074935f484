import type { AcceptedCall, Tool } from '@toolkeel/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testEncryption } from '../fixtures/rig.fixture.js';
import { toolNamed } from '../fixtures/tools.fixture.js';
import { identities } from './identity.js';
import { KEY_IN_META, keyInMeta } from './meta-key.js';

const KEY = 'order-4711.payment:1';
const { of } = identities({ templates: new Map(), encryption: testEncryption });

function callOf(tool: Tool, args: object, more: Partial<AcceptedCall> = {}): AcceptedCall {
  const controls = { allowDuplicate: false };
  const check = () => Promise.resolve(undefined);
  const account = 'main';
  const accountId = () => Promise.resolve({ id: account });
  const call = { tool, args: { ...args }, account, accountId, correlationId: 'c', controls, check };
  return { ...call, ...more };
}

function identityOf(call: AcceptedCall, meta = {}) {
  const given = of(call, call.account, meta);
  if ('ok' in given) throw new Error(given.error.message);
  return given;
}

describe('what makes two calls the same act', () => {
  const post = toolNamed('post');
  const reply = toolNamed('reply');

  it('is the key, if the caller names one, wherever it stands', () => {
    const expected = { by: 'key', value: KEY };
    const named = { controls: { idempotencyKey: KEY, allowDuplicate: false } };
    expect(identityOf(callOf(post, { text: 'a' }, named)).dedupKey).toEqual(expected);
    for (const meta of [{ [KEY_IN_META]: KEY }, { idempotencyKey: KEY }]) {
      expect(identityOf(callOf(post, { text: 'a' }), meta).dedupKey).toEqual(expected);
    }
  });

  it('is what the template names, whatever key the caller gives it beside', () => {
    const named = { controls: { idempotencyKey: KEY, allowDuplicate: false } };
    const call = callOf(reply, { to: '1', text: 'a' }, named);
    const dedupKey = { by: 'template', value: 'reply:1' };
    expect(identityOf(call)).toMatchObject({ dedupKey, key: KEY });
    const beside = identityOf(callOf(reply, { to: '1', text: 'a' }), { [KEY_IN_META]: KEY });
    expect(beside).toMatchObject({ dedupKey, key: KEY });
    expect(identityOf(callOf(reply, { to: '1', text: 'a' }))).not.toHaveProperty('key');
    // Where it cannot be told what the act is, the key says so.
    const templates = new Map([['post', 'media:{media}']]);
    const { of: given } = identities({ templates, encryption: testEncryption });
    expect(given(callOf(post, { text: 'a' }, named), 'main', {})).toMatchObject({
      dedupKey: { by: 'key', value: KEY },
    });
  });

  it('is what the template names, whatever else is said', () => {
    const first = identityOf(callOf(reply, { to: '1', text: 'Thanks!' }));
    const second = identityOf(callOf(reply, { to: '1', text: 'Thank you!' }));
    expect(first.dedupKey).toEqual({ by: 'template', value: 'reply:1' });
    expect(second.dedupKey).toEqual(first.dedupKey);
    expect(second.argsHash).not.toBe(first.argsHash);
  });

  it('is what a template of the configuration names, before the one of the tool', () => {
    const templates = new Map([['reply', 'wording:{text}']]);
    const given = identities({ templates, encryption: testEncryption });
    const { dedupKey } = given.withoutKey(reply, 'main', { to: '1', text: 'a' });
    expect(dedupKey).toEqual({ by: 'template', value: 'wording:a' });
  });

  it('is the content, all of it, else', () => {
    const plain = identityOf(callOf(post, { text: 'a' }));
    expect(plain.dedupKey).toEqual({ by: 'content', value: plain.argsHash });
    const others = [
      callOf(post, { text: 'a', media: ['m1'] }),
      callOf(post, { text: 'b' }),
      callOf(post, { text: 'a' }, { account: 'second' }),
      callOf(toolNamed('post_seen'), { text: 'a' }),
    ].map((call) => identityOf(call).argsHash);
    expect(new Set([plain.argsHash, ...others]).size).toBe(5);
  });

  it('cannot be guessed from what is stored, where an argument is sensitive', () => {
    const pay = toolNamed('pay');
    const args = { card: '4111', amount: 1 };
    const { dedupKey, argsHash } = identityOf(callOf(pay, args));
    const without = identities({ templates: new Map(), encryption: { keyedHash: (text) => text } });
    const bare = without.withoutKey(pay, 'main', args).argsHash;
    expect(argsHash).toBe(testEncryption.keyedHash(bare));
    expect(dedupKey.value).toBe(argsHash);
  });

  it('does not change with the order of the arguments', () => {
    const forwards = identityOf(callOf(post, { text: 'a', media: ['m'] }));
    const backwards = identityOf(callOf(post, { media: ['m'], text: 'a' }));
    expect(backwards).toEqual(forwards);
  });
});

describe('a key that cannot be one', () => {
  const post = toolNamed('post');

  it.each<[string, unknown]>([
    ['too short', 'short'],
    ['too long', 'x'.repeat(256)],
    ['with a character that does not survive', 'sixteen characters'],
    ['no text', 1234567890123456],
    ['null', null],
  ])('in _meta is refused, and names where it stands: %s', (_, key) => {
    for (const name of [KEY_IN_META, 'idempotencyKey']) {
      expect(of(callOf(post, { text: 'a' }), 'main', { [name]: key })).toMatchObject({
        ok: false,
        error: { code: 'validation_error', details: { issues: [{ field: `_meta.${name}` }] } },
      });
    }
  });

  it('is refused when there are two that differ', () => {
    const other = `${KEY}-other`;
    const both = { [KEY_IN_META]: KEY, idempotencyKey: other };
    expect(of(callOf(post, { text: 'a' }), 'main', both)).toMatchObject({ ok: false });
    const named = { controls: { idempotencyKey: other, allowDuplicate: false } };
    expect(of(callOf(post, { text: 'a' }, named), 'main', { [KEY_IN_META]: KEY })).toMatchObject({
      ok: false,
      error: { details: { issues: [{ field: 'idempotency_key' }] } },
    });
    const same = { [KEY_IN_META]: KEY, idempotencyKey: KEY };
    expect(identityOf(callOf(post, { text: 'a' }), same).dedupKey.value).toBe(KEY);
  });

  it('is either taken as it is or refused, whatever a client sends', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (meta, key) => {
        const read = keyInMeta({ ...meta, [KEY_IN_META]: key });
        const isKey = typeof key === 'string' && /^[A-Za-z0-9_.:-]{16,255}$/.test(key);
        if (read.ok) expect([isKey, read.key]).toEqual([true, key]);
        else expect(read.problem.length).toBeGreaterThan(0);
      }),
    );
  });

  it('is not looked for in what an object inherits', () => {
    expect(
      keyInMeta(Object.create({ [KEY_IN_META]: KEY }) as object as Record<string, unknown>),
    ).toEqual({
      ok: true,
      key: undefined,
    });
  });
});
