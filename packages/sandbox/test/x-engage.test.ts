import { describe, expect, test } from 'vitest';
import type { XSandbox } from '@toolkeel/sandbox';
import {
  closeXSandboxesAfterEach,
  get,
  posted,
  remove,
  send,
  xSandbox,
  type Thing,
} from './support/x.js';

closeXSandboxesAfterEach();

const kinds = (x: XSandbox): string[] => x.commits().map(({ kind }) => kind);
const enterprise = (): Promise<XSandbox> => xSandbox({ tier: 'enterprise' });

describe.for([
  { name: 'like', path: 'likes', field: 'liked', read: 'liked_tweets' },
  { name: 'bookmark', path: 'bookmarks', field: 'bookmarked', read: 'bookmarks' },
] as const)('to $name', ({ name, path, field, read }) => {
  test('is committed once, undone once, and can be repeated', async () => {
    const x = await enterprise();
    const base = `/2/users/${x.landmarks.me.id}`;
    const { id } = await posted(x, { text: 'To be marked' });
    const shown = async (): Promise<boolean> =>
      (await get<Thing[]>(x, `${base}/${read}?max_results=5`)).json.data?.[0]?.id === id;
    for (let turn = 0; turn < 2; turn += 1)
      expect((await send(x, `${base}/${path}`, { tweet_id: id })).json).toEqual({
        data: { [field]: true },
      });
    expect(await shown()).toBe(true);
    for (let turn = 0; turn < 2; turn += 1)
      expect((await remove(x, `${base}/${path}/${id}`)).json).toEqual({ data: { [field]: false } });
    expect(await shown()).toBe(false);
    await send(x, `${base}/${path}`, { tweet_id: id });
    expect(await shown()).toBe(true);
    expect(kinds(x).slice(1)).toEqual([`${name}.created`, `${name}.deleted`, `${name}.created`]);
  });

  test('requires an existing target', async () => {
    const x = await enterprise();
    const { status, json } = await send(x, `/2/users/${x.landmarks.me.id}/${path}`, {
      tweet_id: x.landmarks.deletedPostId,
    });
    expect([status, json.title]).toEqual([404, 'Not Found Error']);
    expect(x.commits()).toEqual([]);
  });
});

test('likes are counted and listed', async () => {
  const x = await enterprise();
  const { popularPostId, me } = x.landmarks;
  const metrics = async () =>
    (await get(x, `/2/tweets/${popularPostId}?tweet.fields=public_metrics`)).json.data
      ?.public_metrics['like_count'] ?? 0;
  const before = await metrics();
  await send(x, `/2/users/${me.id}/likes`, { tweet_id: popularPostId });
  expect(await metrics()).toBe(before + 1);
  const { json } = await get<Thing[]>(x, `/2/tweets/${popularPostId}/liking_users?max_results=1`);
  expect(json.data?.[0]?.id).toBe(me.id);
});

test('a repost is a post, which is deleted when it is undone', async () => {
  const x = await xSandbox();
  const { me, unaskedPostId } = x.landmarks;
  const base = `/2/users/${me.id}`;
  const first = await send<{ rest_id: string }>(x, `${base}/retweets`, { tweet_id: unaskedPostId });
  const again = await send<{ rest_id: string }>(x, `${base}/retweets`, { tweet_id: unaskedPostId });
  const id = first.json.data?.rest_id;
  expect(first.json).toEqual({ data: { retweeted: true, rest_id: id } });
  expect(again.json).toEqual(first.json);
  const newest = async () =>
    (await get<Thing[]>(x, `${base}/tweets?tweet.fields=referenced_tweets`)).json.data?.[0];
  expect(await newest()).toMatchObject({
    id,
    text: expect.stringMatching(/^RT @\w+: /),
    referenced_tweets: [{ type: 'retweeted', id: unaskedPostId }],
  });
  const undone = await remove(x, `${base}/retweets/${unaskedPostId}`);
  expect(undone.json).toEqual({ data: { retweeted: false } });
  expect((await newest())?.id).not.toBe(id);
  expect(kinds(x)).toEqual(['repost.created', 'repost.deleted']);
});

test('a follow changes the home timeline, and protected users must approve it', async () => {
  const x = await enterprise();
  const { me, strangerId, protectedId, suspendedId } = x.landmarks;
  const base = `/2/users/${me.id}/following`;
  const follow = (id: string) => send(x, base, { target_user_id: id });
  const isFollowing = async (): Promise<boolean> =>
    (await get<Thing[]>(x, `${base}?max_results=1`)).json.data?.[0]?.id === strangerId;
  expect((await follow(strangerId)).json).toEqual({
    data: { following: true, pending_follow: false },
  });
  await follow(strangerId);
  expect(await isFollowing()).toBe(true);
  expect((await remove(x, `${base}/${strangerId}`)).json).toEqual({ data: { following: false } });
  expect(await isFollowing()).toBe(false);
  expect((await follow(protectedId)).json).toEqual({
    data: { following: false, pending_follow: true },
  });
  expect((await follow(suspendedId)).status).toBe(404);
  expect((await follow(me.id)).status).toBe(403);
  expect(kinds(x)).toEqual(['follow.created', 'follow.deleted']);
});

test('a user cannot act for another user', async () => {
  const x = await enterprise();
  const { me, friendId, unaskedPostId } = x.landmarks;
  const { status, json } = await send(x, `/2/users/${friendId}/likes`, { tweet_id: unaskedPostId });
  expect(status).toBe(400);
  expect(json.errors?.[0]?.['message']).toBe(
    `The \`id\` query parameter value [${friendId}] must be the same as the authenticating user [${me.id}]`,
  );
  expect((await get(x, `/2/users/${friendId}/bookmarks`)).status).toBe(400);
});
