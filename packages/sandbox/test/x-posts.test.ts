import { describe, expect, test } from 'vitest';
import type { XSandbox } from '@toolkeel/sandbox';
import {
  askX,
  closeXSandboxesAfterEach,
  cut,
  get,
  posted,
  remove,
  send,
  xSandbox,
  type Thing,
} from './support/x.js';

closeXSandboxesAfterEach();

const FIELDS =
  'tweet.fields=entities,conversation_id,in_reply_to_user_id,referenced_tweets,note_tweet';
const read = async (x: XSandbox, id: string): Promise<Thing | undefined> =>
  (await get(x, `/2/tweets/${id}?${FIELDS}`)).json.data;

describe('a poll', () => {
  const poll = { options: ['Yes & no', 'cafe\u0301'], duration_minutes: 60 };
  const POLL =
    'expansions=attachments.poll_ids&poll.fields=duration_minutes,end_datetime,voting_status';

  test('is included with its post, and is open for its duration', async () => {
    const x = await xSandbox();
    const { id } = await posted(x, { text: 'Tea?', poll });
    expect(x.commits()).toMatchObject([{ kind: 'post.created', id, poll: poll.options }]);
    const { json } = await get(x, `/2/tweets/${id}?${POLL}`);
    const shown = json as unknown as {
      data: { attachments: { poll_ids: string[] } };
      includes: { polls: object[] };
    };
    const options = [
      { position: 1, label: 'Yes & no', votes: 0 },
      { position: 2, label: 'café', votes: 0 },
    ];
    expect(shown.includes.polls).toEqual([
      {
        id: shown.data.attachments.poll_ids[0],
        options,
        duration_minutes: 60,
        end_datetime: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        voting_status: 'open',
      },
    ]);
    x.clock.advance(3_600_000);
    const later = await get(x, `/2/tweets/${id}?${POLL}`);
    expect(later.json).toMatchObject({ includes: { polls: [{ voting_status: 'closed' }] } });
    const bare = await get(x, `/2/tweets/${id}?tweet.fields=attachments`);
    expect(Object.keys(bare.json)).toEqual(['data']);
  });

  test('makes an equal text a different post', async () => {
    const x = await xSandbox();
    await posted(x, { text: 'Tea?' });
    await posted(x, { text: 'Tea?', poll });
    const other = { ...poll, options: ['1', '2'] };
    await posted(x, { text: 'Tea?', poll: other });
    expect((await send(x, '/2/tweets', { text: 'Tea?', poll })).status).toBe(403);
    expect(x.commits()).toHaveLength(3);
  });

  test.each([
    ['one option', { poll: { ...poll, options: ['a'] } }],
    ['five options', { poll: { ...poll, options: ['a', 'b', 'c', 'd', 'e'] } }],
    ['a long option', { poll: { ...poll, options: ['a', 'b'.repeat(26)] } }],
    ['no time', { poll: { ...poll, duration_minutes: 4 } }],
    ['no text', { text: '', poll }],
    ['media', { poll, media: { media_ids: ['1'] } }],
    ['a quote', { poll, quote_tweet_id: '1' }],
  ])('with %s is rejected', async (_, more) => {
    const x = await xSandbox({ tier: 'enterprise' });
    expect((await send(x, '/2/tweets', { text: 'Tea?', ...more })).status).toBe(400);
    expect(x.commits()).toEqual([]);
  });
});

describe('a post', () => {
  test('is committed, returned with 201 and read back', async () => {
    const x = await xSandbox();
    const { status, json } = await send(x, '/2/tweets', { text: 'Hello from here' });
    const id = json.data?.id ?? '';
    expect([status, json]).toEqual([
      201,
      { data: { id, text: 'Hello from here', edit_history_tweet_ids: [id] } },
    ]);
    expect(id).toMatch(/^\d{19}$/);
    expect(x.commits()).toEqual([
      {
        seq: 1,
        at: expect.any(Number),
        request: 1,
        account: x.landmarks.me.id,
        kind: 'post.created',
        id,
        text: 'Hello from here',
        media: [],
      },
    ]);
    expect(x.log().find((entry) => entry.id === x.commits()[0]?.request)?.route).toBe(
      'create-post',
    );
    const timeline = await get<Thing[]>(x, `/2/users/${x.landmarks.me.id}/tweets`);
    expect(timeline.json.data?.[0]).toMatchObject({ id, text: 'Hello from here' });
  });

  test('is returned with short links, escapes and in NFC', async () => {
    const x = await xSandbox();
    const text = ' Cafe\u0301 & <tea> at https://example.com/menu?a=1&b=2 #lunch @sandbox_me 🐦 ';
    const { id } = await posted(x, { text });
    const post = await read(x, id);
    const [link] = post?.entities?.urls ?? [];
    expect(post?.text).toBe(`Café &amp; &lt;tea&gt; at ${link?.url ?? ''} #lunch @sandbox_me 🐦`);
    expect(link).toMatchObject({
      expanded_url: 'https://example.com/menu?a=1&b=2',
      display_url: 'example.com/menu?a=1&b=2',
    });
    expect(post?.entities?.mentions).toMatchObject([{ id: x.landmarks.me.id }]);
    for (const place of [
      ...(post?.entities?.urls ?? []),
      ...(post?.entities?.hashtags ?? []),
      ...(post?.entities?.mentions ?? []),
    ])
      expect(cut(post?.text ?? '', place)).toMatch(/^(?:https:\/\/t\.co|#lunch|@sandbox_me)/);
    expect(x.commits()[0]).toMatchObject({ text });
  });

  test('is rejected as a duplicate within the window, also after its deletion', async () => {
    const x = await xSandbox();
    const { id } = await posted(x, { text: 'Once only' });
    const again = await send(x, '/2/tweets', { text: 'Once only' });
    expect([again.status, again.json]).toEqual([
      403,
      {
        title: 'Forbidden',
        detail: 'You are not allowed to create a Tweet with duplicate content.',
        type: 'about:blank',
        status: 403,
      },
    ]);
    await remove(x, `/2/tweets/${id}`);
    expect((await send(x, '/2/tweets', { text: ' Once only ' })).status).toBe(403);
    await posted(x, { text: 'Once only', reply: { in_reply_to_tweet_id: x.landmarks.threadId } });
    x.clock.advance(24 * 60 * 60_000);
    const later = { method: 'POST', body: { text: 'Once only' } } as const;
    const { accessToken: token } = x.issueTokens();
    expect((await askX(x, '/2/tweets', { ...later, token })).status).toBe(201);
    expect(x.commits({ kind: 'post.created' })).toHaveLength(3);
  });

  test('is never a duplicate if the window is 0', async () => {
    const x = await xSandbox({ duplicateWindowMs: 0 });
    const first = await posted(x, { text: 'Twice' });
    const second = await posted(x, { text: 'Twice' });
    expect(second.id).not.toBe(first.id);
  });

  test.for([
    ['a'.repeat(280), 201],
    ['a'.repeat(281), 403],
    ['日'.repeat(140), 201],
    ['日'.repeat(141), 403],
    ['👨‍👩‍👧‍👦'.repeat(140), 201],
    ['👨‍👩‍👧‍👦'.repeat(141), 403],
    [`${'a'.repeat(256)} https://example.com/${'b'.repeat(300)}`, 201],
    [`${'a'.repeat(257)} https://example.com/`, 403],
  ] as const)('is limited by its weighted length: %#', async ([text, expected]) => {
    const x = await xSandbox();
    const { status, json } = await send(x, '/2/tweets', { text });
    expect(status).toBe(expected);
    if (expected === 403) expect(json.detail).toBe('You are not permitted to perform this action.');
    expect(x.commits()).toHaveLength(expected === 201 ? 1 : 0);
  });

  test('that is longer is stored in a note, if the limit allows it', async () => {
    const x = await xSandbox({ maxPostLength: 25_000 });
    const text = 'long & longer '.repeat(100).trim();
    const { id } = await posted(x, { text });
    const post = await read(x, id);
    expect(post?.text.length).toBeLessThan(400);
    expect(post?.note_tweet?.text).toBe(text.replaceAll('&', '&amp;'));
  });

  test.for([
    [{}, /text or media/],
    [{ text: '   ' }, /text or media/],
    [{ text: 1 }, /^\$\.text: /],
    [{ text: 'a', mood: 'good' }, /^\$\.mood: is not defined in the schema/],
    [{ text: 'a', reply: {} }, /^\$\.reply\.in_reply_to_tweet_id: /],
    [{ text: 'a', reply: { in_reply_to_tweet_id: 'x' } }, /does not match the regex pattern/],
    [{ text: 'a', media: { media_ids: [] } }, /^\$\.media\.media_ids: /],
    [{ text: 'a', media: { media_ids: ['1', '2', '3', '4', '5'] } }, /^\$\.media\.media_ids: /],
    [{ text: 'a', media: { media_ids: ['123'] } }, /^Your media IDs are invalid\.$/],
  ] as const)('with an invalid body is rejected: %j', async ([body, why]) => {
    const x = await xSandbox();
    const { status, json } = await send(x, '/2/tweets', body);
    expect([status, json.title]).toEqual([400, 'Invalid Request']);
    expect(json.errors?.[0]?.['message']).toMatch(why);
    expect(x.commits()).toEqual([]);
  });
});

describe('a reply', () => {
  test('begins with the usernames that it addresses', async () => {
    const x = await xSandbox();
    const { mentionId, me } = x.landmarks;
    const target = await read(x, mentionId);
    const { id } = await posted(x, { text: 'Thanks', reply: { in_reply_to_tweet_id: mentionId } });
    const reply = await read(x, id);
    expect(reply?.text).toMatch(/^@\w+ (?:@\w+ )*Thanks$/);
    expect(reply?.text).not.toContain(`@${me.username}`);
    expect(reply).toMatchObject({
      conversation_id: target?.conversation_id,
      referenced_tweets: [{ type: 'replied_to', id: mentionId }],
    });
    expect(x.commits()[0]).toMatchObject({ text: 'Thanks', reply_to: mentionId });
  });

  test('mentions each user once, without excluded ones', async () => {
    const x = await xSandbox();
    const { mentionId } = x.landmarks;
    const { json } = await get(x, `/2/tweets/${mentionId}?expansions=author_id`);
    const { username = '', id: authorId = '' } = json.includes?.['users']?.[0] ?? {};
    const reply = { in_reply_to_tweet_id: mentionId };
    expect(await posted(x, { text: `@${username} hi`, reply })).toMatchObject({
      text: `@${username} hi`,
    });
    const excluding = { ...reply, exclude_reply_user_ids: [authorId] };
    expect(await posted(x, { text: 'quietly', reply: excluding })).toMatchObject({
      text: 'quietly',
    });
  });

  test('requires a mention on self_serve, except to own posts', async () => {
    const x = await xSandbox();
    const { unaskedPostId, threadId } = x.landmarks;
    const answer = (id: string) =>
      send(x, '/2/tweets', { text: `To ${id}`, reply: { in_reply_to_tweet_id: id } });
    const { status, json } = await answer(unaskedPostId);
    expect([status, json.detail]).toEqual([
      403,
      'Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the author of the post you are replying to.',
    ]);
    expect((await answer(threadId)).status).toBe(201);
    x.setTier('enterprise');
    expect((await answer(unaskedPostId)).status).toBe(201);
  });

  test('to a deleted or hidden post is rejected', async () => {
    const x = await xSandbox({ tier: 'enterprise' });
    for (const id of [x.landmarks.deletedPostId, x.landmarks.protectedPostId, '99']) {
      const { status, json } = await send(x, '/2/tweets', {
        text: `To ${id}`,
        reply: { in_reply_to_tweet_id: id },
      });
      expect([status, json.detail]).toEqual([
        403,
        'You attempted to reply to a Tweet that is deleted or not visible to you.',
      ]);
    }
  });

  test('to the user’s own post makes a thread', async () => {
    const x = await xSandbox();
    let last: string | undefined;
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three']) {
      const reply = last === undefined ? {} : { reply: { in_reply_to_tweet_id: last } };
      const { id, text: told } = await posted(x, { text, ...reply });
      expect(told).toBe(text);
      ids.push(id);
      last = id;
    }
    const { json } = await get<Thing[]>(
      x,
      `/2/tweets?ids=${ids.join()}&tweet.fields=conversation_id`,
    );
    expect(json.data?.map((post) => post.conversation_id)).toEqual(ids.map(() => ids[0]));
    const found = await get<Thing[]>(
      x,
      `/2/tweets/search/recent?query=conversation_id:${ids[0] ?? ''}`,
    );
    expect(found.json.data?.map(({ id }) => id)).toEqual(ids.toReversed());
  });
});

describe('the self_serve tier rejects', () => {
  test('quotes, and more than one cashtag', async () => {
    const x = await xSandbox();
    const quote = { text: 'Look', quote_tweet_id: x.landmarks.unaskedPostId };
    const tags = { text: '$ABC and $DEF' };
    for (const body of [quote, tags]) {
      const { status, json } = await send(x, '/2/tweets', body);
      expect([status, json.detail]).toEqual([403, 'You are not permitted to perform this action.']);
    }
    expect(x.commits()).toEqual([]);
    x.setTier('enterprise');
    await posted(x, tags);
    const { id } = await posted(x, quote);
    const post = await read(x, id);
    expect(post?.text).toMatch(/^Look https:\/\/t\.co\/\w+$/);
    expect(post?.entities?.urls?.[0]?.expanded_url).toMatch(
      new RegExp(`/status/${x.landmarks.unaskedPostId}$`),
    );
    expect(x.commits().at(-1)).toMatchObject({ quote_of: x.landmarks.unaskedPostId });
  });

  test('likes and follows, with the body that X sends', async () => {
    const x = await xSandbox();
    const { me, unaskedPostId, strangerId } = x.landmarks;
    for (const [path, body] of [
      ['likes', { tweet_id: unaskedPostId }],
      ['following', { target_user_id: strangerId }],
    ] as const) {
      const { status, json } = await send(x, `/2/users/${me.id}/${path}`, body);
      expect(status).toBe(403);
      expect(json).toMatchObject({
        title: 'Client Forbidden',
        reason: 'client-not-enrolled',
        registration_url: expect.stringMatching(/^https:/),
        type: 'https://api.twitter.com/2/problems/client-forbidden',
      });
    }
    expect(x.commits()).toEqual([]);
  });
});

describe('deleting', () => {
  test('removes a post once', async () => {
    const x = await xSandbox();
    const { id } = await posted(x, { text: 'Soon gone' });
    for (let turn = 0; turn < 2; turn += 1)
      expect((await remove(x, `/2/tweets/${id}`)).json).toEqual({ data: { deleted: true } });
    expect(x.commits().map(({ kind }) => kind)).toEqual(['post.created', 'post.deleted']);
    expect((await get(x, `/2/tweets/${id}`)).json.data).toBeUndefined();
  });

  test('is limited to the user’s own posts', async () => {
    const x = await xSandbox();
    expect((await remove(x, `/2/tweets/${x.landmarks.unaskedPostId}`)).status).toBe(403);
    expect((await remove(x, '/2/tweets/99')).status).toBe(404);
    expect(x.commits()).toEqual([]);
  });
});
