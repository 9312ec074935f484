import type { AcceptedCall, Tool } from '@toolkeel/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testEncryption } from '../fixtures/rig.fixture.js';
import { toolNamed } from '../fixtures/tools.fixture.js';
import { createDedupKeys, holdMsOf, KEY_IN_META, keyInMeta } from './dedup-key.js';
import { checkTemplates, keylessTools } from './templates.js';

const KEY = 'order-4711.payment:1';
const { ofCall } = createDedupKeys({ templates: new Map(), encryption: testEncryption });

function callOf(tool: Tool, args: object, more: Partial<AcceptedCall> = {}): AcceptedCall {
  const controls = { allowDuplicate: false };
  const check = () => Promise.resolve(undefined);
  const account = 'main';
  const accountId = () => Promise.resolve({ id: account });
  const call = { tool, args: { ...args }, account, accountId, correlationId: 'c', controls, check };
  return { ...call, ...more };
}

function dedupKeyOf(call: AcceptedCall, meta = {}) {
  const given = ofCall(call, call.account, meta);
  if ('ok' in given) throw new Error(given.error.message);
  return given;
}

describe('the dedup key of a call', () => {
  const post = toolNamed('post');
  const reply = toolNamed('reply');

  it('is the caller’s idempotency key, wherever it is given', () => {
    const expected = { by: 'key', value: KEY };
    const named = { controls: { idempotencyKey: KEY, allowDuplicate: false } };
    expect(dedupKeyOf(callOf(post, { text: 'a' }, named)).dedupKey).toEqual(expected);
    for (const meta of [{ [KEY_IN_META]: KEY }, { idempotencyKey: KEY }]) {
      expect(dedupKeyOf(callOf(post, { text: 'a' }), meta).dedupKey).toEqual(expected);
    }
  });

  it('is the rendered template, whatever key the caller gives', () => {
    const named = { controls: { idempotencyKey: KEY, allowDuplicate: false } };
    const call = callOf(reply, { to: '1', text: 'a' }, named);
    const dedupKey = { by: 'template', value: 'reply:1' };
    expect(dedupKeyOf(call)).toMatchObject({ dedupKey, key: KEY });
    const beside = dedupKeyOf(callOf(reply, { to: '1', text: 'a' }), { [KEY_IN_META]: KEY });
    expect(beside).toMatchObject({ dedupKey, key: KEY });
    expect(dedupKeyOf(callOf(reply, { to: '1', text: 'a' }))).not.toHaveProperty('key');
    // Without the template's arguments, the key identifies the act.
    const templates = new Map([['post', 'media:{media}']]);
    const { ofCall: given } = createDedupKeys({ templates, encryption: testEncryption });
    expect(given(callOf(post, { text: 'a' }, named), 'main', {})).toMatchObject({
      dedupKey: { by: 'key', value: KEY },
    });
  });

  it('is the rendered template, whatever the other arguments are', () => {
    const first = dedupKeyOf(callOf(reply, { to: '1', text: 'Thanks!' }));
    const second = dedupKeyOf(callOf(reply, { to: '1', text: 'Thank you!' }));
    expect(first.dedupKey).toEqual({ by: 'template', value: 'reply:1' });
    expect(second.dedupKey).toEqual(first.dedupKey);
    expect(second.argsHash).not.toBe(first.argsHash);
  });

  it('is the configured template before the tool’s own', () => {
    const templates = new Map([['reply', 'wording:{text}']]);
    const given = createDedupKeys({ templates, encryption: testEncryption });
    const { dedupKey } = given.ofArguments(reply, 'main', { to: '1', text: 'a' });
    expect(dedupKey).toEqual({ by: 'template', value: 'wording:a' });
  });

  it('is the hash of all arguments otherwise', () => {
    const plain = dedupKeyOf(callOf(post, { text: 'a' }));
    expect(plain.dedupKey).toEqual({ by: 'content', value: plain.argsHash });
    const others = [
      callOf(post, { text: 'a', media: ['m1'] }),
      callOf(post, { text: 'b' }),
      callOf(post, { text: 'a' }, { account: 'second' }),
      callOf(toolNamed('post_seen'), { text: 'a' }),
    ].map((call) => dedupKeyOf(call).argsHash);
    expect(new Set([plain.argsHash, ...others]).size).toBe(5);
  });

  it('cannot be brute-forced from the store if an argument is sensitive', () => {
    const pay = toolNamed('pay');
    const args = { card: '4111', amount: 1 };
    const { dedupKey, argsHash } = dedupKeyOf(callOf(pay, args));
    const without = createDedupKeys({
      templates: new Map(),
      encryption: { keyedHash: (text) => text },
    });
    const bare = without.ofArguments(pay, 'main', args).argsHash;
    expect(argsHash).toBe(testEncryption.keyedHash(bare));
    expect(dedupKey.value).toBe(argsHash);
  });

  it('does not depend on the order of the arguments', () => {
    const forwards = dedupKeyOf(callOf(post, { text: 'a', media: ['m'] }));
    const backwards = dedupKeyOf(callOf(post, { media: ['m'], text: 'a' }));
    expect(backwards).toEqual(forwards);
  });
});

describe('an invalid idempotency key', () => {
  const post = toolNamed('post');

  it.each<[string, unknown]>([
    ['too short', 'short'],
    ['too long', 'x'.repeat(256)],
    ['with an invalid character', 'sixteen characters'],
    ['not a string', 1234567890123456],
    ['null', null],
  ])('in _meta is refused, naming the field: %s', (_, key) => {
    for (const name of [KEY_IN_META, 'idempotencyKey']) {
      expect(ofCall(callOf(post, { text: 'a' }), 'main', { [name]: key })).toMatchObject({
        ok: false,
        error: { code: 'validation_error', details: { issues: [{ field: `_meta.${name}` }] } },
      });
    }
  });

  it('is refused when two keys differ', () => {
    const other = `${KEY}-other`;
    const both = { [KEY_IN_META]: KEY, idempotencyKey: other };
    expect(ofCall(callOf(post, { text: 'a' }), 'main', both)).toMatchObject({ ok: false });
    const named = { controls: { idempotencyKey: other, allowDuplicate: false } };
    expect(
      ofCall(callOf(post, { text: 'a' }, named), 'main', { [KEY_IN_META]: KEY }),
    ).toMatchObject({
      ok: false,
      error: { details: { issues: [{ field: 'idempotency_key' }] } },
    });
    const same = { [KEY_IN_META]: KEY, idempotencyKey: KEY };
    expect(dedupKeyOf(callOf(post, { text: 'a' }), same).dedupKey.value).toBe(KEY);
  });

  it('is either used unchanged or refused, for any input', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (meta, key) => {
        const read = keyInMeta({ ...meta, [KEY_IN_META]: key });
        const isKey = typeof key === 'string' && /^[A-Za-z0-9_.:-]{16,255}$/.test(key);
        if (read.ok) expect([isKey, read.key]).toEqual([true, key]);
        else expect(read.problem.length).toBeGreaterThan(0);
      }),
    );
  });

  it('is not read from inherited properties', () => {
    expect(
      keyInMeta(Object.create({ [KEY_IN_META]: KEY }) as object as Record<string, unknown>),
    ).toEqual({
      ok: true,
      key: undefined,
    });
  });
});
const MONTH = 30 * 86_400_000;

describe('how long a settled operation holds its dedup key', () => {
  it.each<[string, 'key' | 'template' | 'content', string, number]>([
    ['a key: for the retention', 'key', 'post', MONTH],
    ['a key of an idempotent tool: for the retention', 'key', 'touch', MONTH],
    ['a template: for the retention', 'template', 'reply', MONTH],
    ['a template of a tool with a window: for the window', 'template', 'like', 30_000],
    ['content: 30 s', 'content', 'post', 30_000],
    ['content of an idempotent tool: not at all', 'content', 'touch', 0],
    ['an inverse: not at all', 'content', 'unlike', 0],
    ['an inverse with a template: not at all', 'template', 'delete', 0],
  ])('%s', (_, by, tool, expected) => {
    expect(holdMsOf(by, toolNamed(tool), MONTH)).toBe(expected);
  });

  it('is never longer than the retention', () => {
    const tools = ['post', 'like', 'reply', 'unlike'].map(toolNamed);
    fc.assert(
      fc.property(
        fc.constantFrom(...tools),
        fc.constantFrom('key' as const, 'template' as const, 'content' as const),
        fc.nat(),
        (tool, by, retention) => {
          const hold = holdMsOf(by, tool, retention);
          expect(hold).toBeGreaterThanOrEqual(0);
          expect(hold).toBeLessThanOrEqual(retention);
        },
      ),
    );
  });
});

describe('templates', () => {
  const specs = ['post', 'reply', 'like', 'pay'].map(toolNamed);

  it('are missing for once tools that are identified by content only', () => {
    expect(keylessTools(specs)).toEqual(['post', 'pay']);
    expect(keylessTools(specs, { pay: 'pay:{amount}' })).toEqual(['post']);
  });

  it.each([
    [{ tweet: 'x:{text}' }, 'unknown tool "tweet"'],
    [{ post: 'always the same' }, 'must name an argument'],
    [{ post: 'post:{title}' }, 'title is not an argument'],
    [{ pay: 'pay:{card}' }, 'card is sensitive'],
  ])('that can never produce a key are refused: %j', (templates, problem) => {
    expect(() => checkTemplates(templates, specs)).toThrow(problem);
  });

  it('of the configuration may use any argument that is not sensitive', () => {
    expect(() => checkTemplates({ pay: 'pay:{amount}', post: 'p:{text}' }, specs)).not.toThrow();
  });
});
