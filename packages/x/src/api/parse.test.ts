import { isObject } from '@toolkeel/pack-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listSchema, postSchema, userSchema } from '../model.js';
import { readIncludes, readList, readPost, readUser } from './parse.js';

const post = (doc: Record<string, unknown>, includes: object = {}) =>
  readPost(doc, readIncludes({ includes }));

describe('readPost', () => {
  it('returns the full, unescaped text of a long post', () => {
    const doc = { id: '1', text: 'a &lt;…', note_tweet: { text: 'a &lt; b &amp;amp; c' } };
    expect(post(doc)?.text).toBe('a < b &amp; c');
    expect(post({ id: '1', text: 'x', note_post: { text: 'long' } })?.text).toBe('long');
  });

  it('accepts both names of renamed members', () => {
    const references = [{ type: 'quoted', id: '7' }];
    for (const name of ['referenced_tweets', 'referenced_posts']) {
      expect(post({ id: '1', text: 'a', [name]: references })?.referenced_tweets).toEqual(
        references,
      );
    }
  });

  it('resolves authors and media from the includes', () => {
    const doc = { id: '1', text: 'a', author_id: '5', attachments: { media_keys: ['3_9', 7] } };
    const includes = {
      users: [{ id: '5', username: 'alice' }],
      media: [{ media_key: '3_9', type: 'photo', alt_text: 'a tern' }],
    };
    expect(post(doc, includes)).toMatchObject({
      author_username: 'alice',
      media: [{ media_key: '3_9', type: 'photo', alt_text: 'a tern' }],
    });
  });

  it('drops malformed members', () => {
    const doc = {
      id: '1',
      text: 'a',
      author_id: 5,
      lang: null,
      public_metrics: { likes: 'many', reply_count: 2, __proto__: 1, 'A B': 3 },
      entities: { urls: [{ url: 'u' }, 'x', null] },
    };
    expect(post(doc)).toEqual({ id: '1', text: 'a', public_metrics: { reply_count: 2 } });
    expect(post({ id: 'x', text: 'a' })).toBeUndefined();
    expect(post({ id: '1' })).toBeUndefined();
  });

  it('returns a valid model or undefined for any input', () => {
    const any = fc.jsonValue({ maxDepth: 3 });
    const names = [
      'id',
      'text',
      'username',
      'name',
      'entities',
      'attachments',
      'public_metrics',
      'includes',
    ];
    const doc = fc.dictionary(
      fc.constantFrom(...names, 'referenced_tweets', 'note_tweet', 'author_id', 'verified'),
      fc.oneof(
        any,
        fc.constant('12'),
        fc.dictionary(fc.constantFrom('urls', 'media_keys', 'text'), any),
      ),
    );
    fc.assert(
      fc.property(doc, (given) => {
        if (!isObject(given)) return;
        const [one, user, list] = [
          readPost(given, readIncludes(given)),
          readUser(given),
          readList(given),
        ];
        if (one) expect(postSchema.safeParse(one).success).toBe(true);
        if (user) expect(userSchema.safeParse(user).success).toBe(true);
        if (list) expect(listSchema.safeParse(list).success).toBe(true);
      }),
    );
  });
});
