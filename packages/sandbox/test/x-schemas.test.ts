import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FaultKind } from '@toolkeel/sandbox';
import { wrongWith, type SchemaName } from './support/x-schemas.js';
import { askX, closeXSandboxesAfterEach, get, posted, send, xSandbox } from './support/x.js';

closeXSandboxesAfterEach();

const POST =
  'tweet.fields=attachments,author_id,conversation_id,created_at,display_text_range,edit_controls,entities,in_reply_to_user_id,lang,note_tweet,possibly_sensitive,public_metrics,referenced_tweets,reply_settings&user.fields=created_at,public_metrics&media.fields=alt_text,duration_ms,height,url,width,preview_image_url&poll.fields=duration_minutes,end_datetime,voting_status&expansions=author_id,referenced_tweets.id.author_id,in_reply_to_user_id,entities.mentions.username,attachments.media_keys,attachments.poll_ids';
const USER =
  'user.fields=created_at,description,location,pinned_tweet_id,profile_image_url,protected,public_metrics,url,verified,verified_type';
const LIST = 'list.fields=created_at,description,follower_count,member_count,owner_id,private';

/** Every read route, with all fields and with the default ones. */
const reads: readonly (readonly [path: string, schema: SchemaName, all: string])[] = [
  ['/2/users/me', 'user', USER],
  ['/2/users/:friend', 'user', USER],
  ['/2/users/by/username/:username', 'user', USER],
  ['/2/users?ids=:me,:friend,1', 'users', USER],
  ['/2/users/:me/followers?max_results=50', 'users', USER],
  ['/2/users/:me/following?max_results=50', 'users', USER],
  ['/2/tweets/:popular', 'post', POST],
  ['/2/tweets/:orphan', 'post', POST],
  ['/2/tweets/:picture', 'post', POST],
  ['/2/tweets?ids=:popular,:deleted,:closed,:orphan', 'posts', POST],
  ['/2/tweets/search/recent?query=harbour&max_results=100', 'posts', POST],
  ['/2/tweets/:popular/liking_users', 'users', USER],
  ['/2/users/:me/tweets?max_results=100', 'posts', POST],
  ['/2/users/:me/mentions?max_results=100', 'posts', POST],
  ['/2/users/:me/timelines/reverse_chronological', 'posts', POST],
  ['/2/users/:me/liked_tweets', 'posts', POST],
  ['/2/users/:me/bookmarks', 'posts', POST],
  ['/2/lists/:list', 'list', LIST],
  ['/2/lists/:list/tweets', 'posts', POST],
  ['/2/lists/:list/members', 'users', USER],
  ['/2/users/:me/owned_lists', 'lists', LIST],
  ['/2/users/:me/list_memberships', 'lists', LIST],
];

const filled = (path: string, names: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => names[name] ?? name);

test('every response matches the schema of X', async () => {
  const x = await xSandbox();
  const {
    me,
    friendId,
    popularPostId,
    orphanId,
    deletedPostId,
    protectedPostId,
    pictureId,
    listId,
  } = x.landmarks;
  const names = {
    me: me.id,
    username: me.username,
    friend: friendId,
    popular: popularPostId,
    orphan: orphanId,
    deleted: deletedPostId,
    closed: protectedPostId,
    picture: pictureId,
    list: listId,
  };
  for (const [path, schema, everything] of reads) {
    const plain = filled(path, names);
    const rich = plain + (plain.includes('?') ? '&' : '?') + everything;
    for (const asked of [plain, rich]) {
      const { status, json, headers } = await get(x, asked);
      expect([asked, status, wrongWith(schema, json)]).toEqual([asked, 200, []]);
      expect([asked, json.data]).not.toEqual([asked, undefined]);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers).toMatchObject({
        'x-rate-limit-limit': expect.stringMatching(/^\d+$/),
        'x-rate-limit-remaining': expect.stringMatching(/^\d+$/),
        'x-rate-limit-reset': expect.stringMatching(/^\d{10}$/),
        'x-transaction-id': expect.stringMatching(/^[0-9a-f]{16}$/),
        'x-access-level': 'read-write',
        'api-version': '2.167',
      });
    }
  }
});

test('a created post matches the schema', async () => {
  const x = await xSandbox();
  const { status, json } = await send(x, '/2/tweets', { text: 'Shape & <form>' });
  expect([status, wrongWith('created', json)]).toEqual([201, []]);
});

describe('problems', () => {
  const refusals: readonly FaultKind[] = [
    'x-402-credits',
    'x-403-duplicate',
    'x-403-reply-not-allowed',
    'x-403-not-permitted',
    'x-403-not-authorized',
    'x-403-spend-cap',
    'x-403-client-not-enrolled',
    'x-403-user-not-enrolled',
    'x-403-official-client',
    'x-403-unsupported-authentication',
    'x-403-oauth1-permissions',
    'x-403-suspended',
    'x-403-locked',
    'x-403-restricted',
    'x-429-window',
    'x-429-legacy',
    'x-429-day',
    'x-429-usage-cap',
    'http-401',
    'http-500',
    'http-503',
    'acted-http-502',
  ];

  test('match a documented format', async () => {
    const x = await xSandbox();
    for (const kind of refusals) {
      x.setFaults([{ kind, times: 1 }]);
      const { status, json } = await get(x, '/2/users/me');
      expect([kind, wrongWith('problem', json)]).toEqual([kind, []]);
      expect(kind).toContain(String(status));
    }
    for (const [path, expected] of [
      ['/2/users/me?foo=1', 400],
      ['/2/users/abc', 400],
      ['/2/tweets?ids=', 400],
      ['/2/nowhere', 404],
      [`/2/users/${x.landmarks.me.id}/likes`, 405],
    ] as const) {
      const { status, json } = await get(x, path);
      expect([path, status, wrongWith('problem', json)]).toEqual([path, expected, []]);
    }
  });
});

test('arbitrary parameters never cause a 500, and unknown ones are rejected', async () => {
  const x = await xSandbox({
    limits: Object.fromEntries(
      ['search', 'user-posts', 'posts', 'users', 'followers'].map((name) => [name, { user: 1e6 }]),
    ),
  });
  const { me, popularPostId } = x.landmarks;
  const paths = [
    '/2/tweets/search/recent',
    `/2/users/${me.id}/tweets`,
    '/2/tweets',
    '/2/users',
    `/2/users/${me.id}/followers`,
  ];
  const names = [
    'query',
    'ids',
    'max_results',
    'pagination_token',
    'next_token',
    'since_id',
    'until_id',
    'start_time',
    'end_time',
    'tweet.fields',
    'post.fields',
    'user.fields',
    'expansions',
    'exclude',
    'sort_order',
    '__proto__',
    'constructor',
  ];
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom(
      '',
      '0',
      '100',
      '1e9',
      '-5',
      popularPostId,
      `${me.id},${me.id}`,
      'harbour',
      'id,text',
      '2026-01-01T00:00:00Z',
      'author_id',
      '(',
      '"',
      'from:me OR -',
    ),
  );
  const query = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), query, async (path, pairs) => {
      const { status, json } = await get(x, `${path}?${new URLSearchParams(pairs).toString()}`);
      expect([200, 400]).toContain(status);
      const schema = /users$|followers$/.test(path) ? 'users' : 'posts';
      expect(wrongWith(status === 400 ? 'problem' : schema, json)).toEqual([]);
    }),
    { numRuns: 250 },
  );
});

test('arbitrary bodies never cause a 500', async () => {
  const x = await xSandbox({ limits: { 'create-post': { user: 1e6 } } });
  await posted(x, { text: 'first' });
  const sane = fc.record(
    {
      text: fc.string({ unit: 'binary' }),
      reply: fc.record({ in_reply_to_tweet_id: fc.constantFrom(x.landmarks.threadId, '1', 'x') }),
      media: fc.record({ media_ids: fc.array(fc.constantFrom('1', '2')) }),
      poll: fc.record({
        options: fc.array(fc.string({ maxLength: 27 }), { maxLength: 5 }),
        duration_minutes: fc.constantFrom(4, 5, 60, 10_080, 10_081, 7.5),
      }),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    sane.map((value) => JSON.stringify(value)),
  );
  await fc.assert(
    fc.asyncProperty(body, async (bytes) => {
      const before = x.commits().length;
      const raw = { type: 'application/json', bytes };
      const { status, json } = await askX(x, '/2/tweets', { method: 'POST', raw });
      expect([201, 400, 403]).toContain(status);
      expect(wrongWith(status === 201 ? 'created' : 'problem', json)).toEqual([]);
      expect(x.commits().length - before).toBe(status === 201 ? 1 : 0);
    }),
    { numRuns: 200 },
  );
});
