import { describe, expect, test } from 'vitest';
import { closeXSandboxesAfterEach, cut, get, pagesOf, xSandbox, type Thing } from './support/x.js';

closeXSandboxesAfterEach();

describe('users', () => {
  test('have default fields, and more on request', async () => {
    const x = await xSandbox();
    const plain = await get(x, '/2/users/me');
    expect(plain.json).toEqual({
      data: { id: x.landmarks.me.id, name: 'Sandbox', username: 'sandbox_me' },
    });
    const { json } = await get(x, '/2/users/me?user.fields=public_metrics,created_at,verified');
    expect(json.data).toMatchObject({
      created_at: '2009-01-01T00:00:00.000Z',
      public_metrics: { followers_count: 260, following_count: 170, like_count: 220 },
      verified: expect.any(Boolean),
    });
  });

  test('are found by id and by username, in any case', async () => {
    const x = await xSandbox();
    const { friendId, me } = x.landmarks;
    const byId = await get(x, `/2/users/${friendId}`);
    const { username = '' } = byId.json.data ?? {};
    const byName = await get(x, `/2/users/by/username/${username.toUpperCase()}`);
    expect(byName.json).toEqual(byId.json);
    const several = await get<Thing[]>(x, `/2/users?ids=${friendId},${me.id}`);
    expect(several.json.data?.map(({ id }) => id)).toEqual([friendId, me.id]);
  });

  test('that are missing are reported as errors beside others', async () => {
    const x = await xSandbox();
    const { me, suspendedId } = x.landmarks;
    const alone = await get(x, '/2/users/999');
    expect(alone.status).toBe(200);
    expect(alone.json).toEqual({
      errors: [
        {
          value: '999',
          detail: 'Could not find user with id: [999].',
          title: 'Not Found Error',
          resource_type: 'user',
          parameter: 'id',
          resource_id: '999',
          type: 'https://api.twitter.com/2/problems/resource-not-found',
        },
      ],
    });
    const { json } = await get<Thing[]>(x, `/2/users?ids=${me.id},999,${suspendedId}`);
    expect(json.data?.map(({ id }) => id)).toEqual([me.id]);
    expect(json.errors?.map(({ detail }) => detail)).toEqual([
      'Could not find user with ids: [999].',
      `User has been suspended: [${suspendedId}].`,
    ]);
  });
});

describe('posts', () => {
  test('have the requested fields, and those that expansions need', async () => {
    const x = await xSandbox();
    const { popularPostId, orphanId, friendId, me, pictureId } = x.landmarks;
    const plain = await get(x, `/2/tweets/${popularPostId}`);
    expect(Object.keys(plain.json.data ?? {})).toEqual(['id', 'text', 'edit_history_tweet_ids']);
    const expanded = await get(
      x,
      `/2/tweets/${orphanId}?expansions=author_id,in_reply_to_user_id,entities.mentions.username`,
    );
    expect(expanded.json.data).toMatchObject({ author_id: friendId, in_reply_to_user_id: me.id });
    expect(expanded.json.includes?.['users']?.map(({ id }) => id)).toEqual([friendId, me.id]);
    const pictures = await get(
      x,
      `/2/tweets/${pictureId}?expansions=attachments.media_keys&media.fields=url,width,alt_text`,
    );
    expect(pictures.json.includes?.['media']?.[0]).toMatchObject({
      media_key: expect.stringMatching(/^[37]_\d+$/),
      width: 1200,
    });
  });

  test('report unavailable expansions', async () => {
    const x = await xSandbox();
    const { orphanId, deletedPostId } = x.landmarks;
    const { status, json } = await get(x, `/2/tweets/${orphanId}?expansions=referenced_tweets.id`);
    expect(status).toBe(200);
    expect(json.data?.referenced_tweets).toEqual([{ type: 'replied_to', id: deletedPostId }]);
    expect(json.errors).toMatchObject([
      {
        parameter: 'referenced_tweets.id',
        resource_id: deletedPostId,
        type: expect.stringMatching(/resource-not-found$/),
      },
    ]);
  });

  test('that are deleted or protected are errors beside the others', async () => {
    const x = await xSandbox();
    const { deletedPostId, protectedPostId, popularPostId } = x.landmarks;
    const ids = [deletedPostId, protectedPostId, popularPostId].join();
    const { json } = await get<Thing[]>(x, `/2/tweets?ids=${ids}`);
    expect(json.data?.map(({ id }) => id)).toEqual([popularPostId]);
    expect(json.errors?.map(({ type }) => String(type).split('/').at(-1))).toEqual([
      'resource-not-found',
      'not-authorized-for-resource',
    ]);
    const timeline = await get(x, `/2/users/${x.landmarks.protectedId}/tweets`);
    expect([timeline.status, timeline.json.data]).toEqual([200, undefined]);
  });

  test('use post naming if post.fields is requested', async () => {
    const x = await xSandbox();
    const path = `/2/tweets/${x.landmarks.threadId}`;
    const old = await get(x, `${path}?tweet.fields=public_metrics`);
    expect(old.json.data).toMatchObject({
      edit_history_tweet_ids: [x.landmarks.threadId],
      public_metrics: { retweet_count: 0 },
    });
    const young = await get(x, `${path}?post.fields=public_metrics&expansions=referenced_posts.id`);
    expect(young.json.data).toMatchObject({
      edit_history_post_ids: [x.landmarks.threadId],
      public_metrics: { repost_count: 0 },
    });
    expect(young.text).not.toMatch(/tweet/);
    expect((await get(x, `${path}?post.fields=note_tweet`)).status).toBe(400);
    expect((await get(x, `${path}?post.fields=id&tweet.fields=id`)).status).toBe(400);
  });

  test('have entities with their positions', async () => {
    const x = await xSandbox();
    const path = `/2/users/${x.landmarks.me.id}/tweets?max_results=100&tweet.fields=entities`;
    let links = 0;
    for await (const { data = [] } of pagesOf(x, path))
      for (const { text, entities = {} } of data) {
        for (const url of entities.urls ?? []) {
          expect(cut(text, url)).toBe(url.url);
          expect(url.url).toMatch(/^https:\/\/t\.co\/\w{10}$/);
          links += 1;
        }
        for (const name of entities.mentions ?? [])
          expect(cut(text, name)).toBe(`@${name.username}`);
        for (const tag of entities.hashtags ?? []) expect(cut(text, tag)).toBe(`#${tag.tag}`);
        expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)|example\.com/);
      }
    expect(links).toBeGreaterThan(40);
  });
});

describe('lists of users and posts', () => {
  test.for([
    ['/2/users/:me/tweets', 300],
    ['/2/users/:me/mentions', 230],
    ['/2/users/:me/timelines/reverse_chronological', 800],
    ['/2/users/:me/liked_tweets', 210],
    ['/2/users/:me/bookmarks', 130],
    ['/2/users/:me/followers', 260],
    ['/2/users/:me/following', 170],
    ['/2/tweets/:popular/liking_users', 250],
    ['/2/lists/:list/members', 120],
    ['/2/lists/:list/tweets', 400],
  ] as const)('%s spans several pages of 100, each item once', async ([path, least]) => {
    const x = await xSandbox();
    const { me, popularPostId, listId } = x.landmarks;
    const filled = path
      .replace(':me', me.id)
      .replace(':popular', popularPostId)
      .replace(':list', listId);
    const ids: string[] = [];
    const sizes: number[] = [];
    for await (const { data = [], meta } of pagesOf(x, `${filled}?max_results=100`)) {
      ids.push(...data.map(({ id }) => id));
      sizes.push(data.length);
      expect(meta?.result_count).toBe(data.length);
    }
    expect(ids.length).toBeGreaterThanOrEqual(least);
    expect(new Set(ids).size).toBe(ids.length);
    expect(sizes.slice(0, -1).every((size) => size === 100)).toBe(true);
  });

  test('are limited by ids and times', async () => {
    const x = await xSandbox();
    const path = `/2/users/${x.landmarks.me.id}/tweets`;
    const { json } = await get<Thing[]>(x, `${path}?max_results=20&tweet.fields=created_at`);
    const posts = json.data ?? [];
    const [since, until] = [posts[9], posts[2]];
    expect(json.meta).toMatchObject({ newest_id: posts[0]?.id, oldest_id: posts[19]?.id });
    const between = await get<Thing[]>(
      x,
      `${path}?max_results=20&since_id=${since?.id ?? ''}&until_id=${until?.id ?? ''}`,
    );
    expect(between.json.data?.map(({ id }) => id)).toEqual(posts.slice(3, 9).map(({ id }) => id));
    const later = await get<Thing[]>(x, `${path}?start_time=${since?.created_at ?? ''}`);
    expect(later.json.data?.map(({ id }) => id)).toEqual(posts.slice(0, 10).map(({ id }) => id));
  });

  test('exclude replies and reposts on request', async () => {
    const x = await xSandbox();
    const types = async (query: string): Promise<Set<string>> => {
      const path = `/2/users/${x.landmarks.me.id}/tweets?max_results=100&tweet.fields=referenced_tweets${query}`;
      const { json } = await get<Thing[]>(x, path);
      return new Set(
        json.data?.flatMap((post) => post.referenced_tweets?.map(({ type }) => type) ?? []),
      );
    };
    expect(await types('')).toEqual(new Set(['retweeted', 'replied_to', 'quoted']));
    expect(await types('&exclude=replies,retweets')).toEqual(new Set(['quoted']));
  });

  test('include lists', async () => {
    const x = await xSandbox();
    const { me, listId } = x.landmarks;
    const one = await get(x, `/2/lists/${listId}?list.fields=member_count,owner_id`);
    expect(one.json).toMatchObject({
      data: { id: listId, name: 'Shore birds', member_count: 120, owner_id: me.id },
    });
    const owned = await get<Thing[]>(x, `/2/users/${me.id}/owned_lists`);
    expect(owned.json.data).toHaveLength(2);
    const byApp = await get<Thing[]>(x, `/2/users/${me.id}/owned_lists`, x.credentials.bearerToken);
    expect(byApp.json.data?.map(({ id }) => id)).toEqual([listId]);
    const memberships = await get<Thing[]>(x, `/2/users/${me.id}/list_memberships`);
    expect(memberships.json.data).toHaveLength(1);
  });
});

describe('search', () => {
  test('finds words in the last seven days, newest first', async () => {
    const x = await xSandbox();
    const found: Thing[] = [];
    const path = '/2/tweets/search/recent?query=harbour%20-is:retweet&max_results=100';
    for await (const { data = [] } of pagesOf(x, `${path}&tweet.fields=created_at`))
      found.push(...data);
    expect(found.length).toBeGreaterThan(50);
    expect(found.every(({ text }) => text.includes('harbour') && !text.startsWith('RT'))).toBe(
      true,
    );
    const times = found.map(({ created_at }) => Date.parse(created_at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(Math.min(...times)).toBeGreaterThan(x.clock.now() - 7 * 24 * 60 * 60_000 - 1000);
  });

  test('rejects older periods and invalid queries', async () => {
    const x = await xSandbox();
    const search = (query: string) => get(x, `/2/tweets/search/recent?${query}`);
    const old = await search('query=harbour&since_id=1346889436626259968');
    expect(old.status).toBe(400);
    expect(old.json.errors?.[0]?.['message']).toMatch(
      /^'since_id' must be a tweet id created after/,
    );
    for (const query of [
      '',
      '(harbour',
      'harbour)',
      'is:reply',
      'filter:replies',
      'a and b',
      '-gulls',
    ])
      expect((await search(`query=${encodeURIComponent(query)}`)).status).toBe(400);
    expect((await search(`query=${'a'.repeat(513)}`)).status).toBe(400);
    expect((await search('query=nothingofthekind')).json).toEqual({ meta: { result_count: 0 } });
  });
});
