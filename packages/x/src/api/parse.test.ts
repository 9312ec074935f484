import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject } from '../json.js';
import { listSchema, postSchema, userSchema } from './model.js';
import { readIncludes, readList, readPost, readUser } from './parse.js';

const post = (doc: Record<string, unknown>, includes: object = {}) =>
  readPost(doc, readIncludes({ includes }));

describe('readPost', () => {
  it('shows the whole text of a long post, and X’s escapes undone', () => {
    const doc = { id: '1', text: 'a &lt;…', note_tweet: { text: 'a &lt; b &amp;amp; c' } };
    expect(post(doc)?.text).toBe('a < b &amp; c');
    expect(post({ id: '1', text: 'x', note_post: { text: 'long' } })?.text).toBe('long');
  });

  it('understands both spellings of what X renames', () => {
    const references = [{ type: 'quoted', id: '7' }];
    for (const name of ['referenced_tweets', 'referenced_posts']) {
      expect(post({ id: '1', text: 'a', [name]: references })?.referenced_tweets).toEqual(
        references,
      );
    }
  });

  it('finds authors and media beside the posts', () => {
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

  it('leaves out what is not what it should be', () => {
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

  it('makes of anything what its schema accepts, or nothing', () => {
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
