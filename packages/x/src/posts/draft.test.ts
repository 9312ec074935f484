import { contentHash, type Arguments } from '@toolkeel/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toToolError } from '../faults.js';
import { checkDraft, type Draft, normalizePost, normalizeThread } from './draft.js';

const config = { maxPostLength: 280, tier: 'enterprise' } as const;

function refusalOf(draft: Draft, index?: number) {
  try {
    return checkDraft(draft, config, index);
  } catch (cause) {
    return toToolError(cause)?.input;
  }
}

const poll = (...options: string[]) => ({ options, duration_minutes: 60 });

describe('a draft', () => {
  it.each(['', '  \n', '\u200B', '\u200B\u2060 \u200D', '\u00AD', '\uFE0F'])(
    'without visible text is rejected: %j',
    (text) => {
      expect(refusalOf({ text })).toMatchObject({
        code: 'invalid_input',
        outcome: 'not_executed',
        details: { field: 'text' },
      });
      expect(refusalOf({ text }, 2)).toMatchObject({ details: { field: 'tweets[2]' } });
      expect(refusalOf({ text: 'a', poll: poll('yes', text) })).toMatchObject({
        code: 'invalid_input',
        details: { field: 'poll' },
      });
      expect(refusalOf({ text, mediaIds: ['1'] })).toBeUndefined();
    },
  );

  it.each(['a', '語', '👩\u200D🚀', '\u200Ba', '.'])(
    'with visible text is accepted: %j',
    (text) => {
      expect(refusalOf({ text, poll: poll('yes', text) })).toBeUndefined();
    },
  );

  it('names the invalid field', () => {
    const both = { text: 'a', poll: poll('yes', 'no'), mediaIds: ['1'] };
    expect(refusalOf(both)).toMatchObject({ details: { field: 'poll' } });
    const twice = { text: 'a', mediaIds: ['1', '1'] };
    expect(refusalOf(twice)).toMatchObject({ details: { field: 'media_ids' } });
    expect(refusalOf(twice, 1)).toMatchObject({ details: { field: 'media_ids[1]' } });
  });
});

const keyOf = (args: Arguments): string => contentHash({ tool: 't', account: 'x:1', args });

type Post = Parameters<typeof normalizePost>[0];
type Thread = Parameters<typeof normalizeThread>[0];
const postKey = (args: Post): string => keyOf(normalizePost(args));
const threadKey = (args: Thread): string => keyOf(normalizeThread(args));

/** Characters with several normalization forms, and plain ones. */
const text = fc
  .array(fc.constantFrom('é', 'Å', '한', 'ạ̈', 'q̣̇', 'a', 'b', ' ', '\n', '👩‍👩‍👦', '語'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));
const form = fc.constantFrom('NFC' as const, 'NFD' as const);
const blanks = fc.constantFrom('', ' ', '\n', ' \u00A0\t', '\u3000');
const ids = fc.uniqueArray(fc.constantFrom('1', '2', '3'), { minLength: 1, maxLength: 3 });

describe('equal posts', () => {
  it('are one act: normalization, trailing whitespace, absent and empty options', () => {
    const variant = fc.record({
      form,
      blanks,
      media: fc.constantFrom({}, { media_ids: undefined }, { media_ids: [] as string[] }),
      ai: fc.constantFrom({}, { made_with_ai: undefined }, { made_with_ai: false }),
    });
    fc.assert(
      fc.property(text, variant, variant, (given, ...variants) => {
        const keys = variants.map(({ form: spelled, blanks: end, media, ai }) =>
          postKey({ text: `${given.normalize(spelled)}${end}`, ...media, ...ai }),
        );
        expect(keys[0]).toBe(keys[1]);
      }),
    );
  });

  it('differ by text, media and disclosure', () => {
    fc.assert(
      fc.property(text, text, ids, ids, (one, other, media, otherMedia) => {
        const plain = (given: string): string => given.normalize('NFC').trimEnd();
        fc.pre(plain(one) !== plain(other) && String(media) !== String(otherMedia));
        const posts: readonly Post[] = [
          { text: one },
          { text: other },
          { text: one, media_ids: media },
          { text: one, media_ids: otherMedia },
          { text: one, made_with_ai: true },
        ];
        expect(new Set(posts.map(postKey)).size).toBe(posts.length);
      }),
    );
  });

  it('keep leading whitespace and other arguments', () => {
    const keys = [
      { text: 'a' },
      { text: ' a' },
      { text: 'a', in_reply_to_id: '1' },
      { text: 'a', reply_settings: 'following' },
    ].map(postKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('equal threads', () => {
  const lists = fc.array(fc.oneof(fc.constant([] as string[]), ids), { maxLength: 3 });

  it('are one act with any number of trailing empty media lists', () => {
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 4 }),
        lists,
        fc.nat({ max: 3 }),
        form,
        blanks,
        (tweets, media, more, spelled, end) => {
          const spelt = tweets.map((given) => `${given.normalize(spelled)}${end}`);
          const padded = [...media, ...Array.from({ length: more }, () => [])];
          expect(threadKey({ tweets: spelt, media_ids: padded, made_with_ai: false })).toBe(
            threadKey({ tweets, media_ids: media }),
          );
        },
      ),
    );
    const tweets = ['a', 'b'];
    const none = [undefined, [], [[]], [[], []]].map((media) =>
      threadKey({ tweets, media_ids: media }),
    );
    expect(new Set(none).size).toBe(1);
  });

  it('differ by the order of parts and media', () => {
    const keys = [
      { tweets: ['a', 'b'] },
      { tweets: ['b', 'a'] },
      { tweets: ['a', 'b'], media_ids: [['1']] },
      { tweets: ['a', 'b'], media_ids: [[], ['1']] },
    ].map(threadKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
