import type { Client } from '../api/client.js';
import { routes } from '../api/routes.js';
import { readCost } from '../cost/estimate.js';
import { add, notDone, remove } from './relation.js';
import {
  bookmarkTweetSpec,
  followUserSpec,
  likeTweetSpec,
  retweetSpec,
  unbookmarkTweetSpec,
  unfollowUserSpec,
  unlikeTweetSpec,
  unretweetSpec,
} from './specs/engage.js';
import { xTool } from './tool.js';

const relations = {
  likes: { set: 'likes', flag: 'liked' },
  following: { set: 'following', flag: 'following' },
  retweets: { set: 'retweets', flag: 'retweeted' },
  bookmarks: { set: 'bookmarks', flag: 'bookmarked' },
} as const;

export const likeTweet = (client: Client) =>
  xTool(
    likeTweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.like, ...relations.likes };
      const { now, beside } = await add(client, relation, { tweet_id: id }, scope);
      return now['liked'] === true ? { tweet_id: id, liked: true, ...beside } : notDone();
    },
    { estimateCost: () => readCost(client.prices, 'interaction_create', 1) },
  );

export const unlikeTweet = (client: Client) =>
  xTool(
    unlikeTweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.unlike, ...relations.likes };
      const { now, beside } = await remove(client, relation, id, scope);
      return { tweet_id: id, liked: now, ...beside };
    },
    {
      inverse: { of: likeTweetSpec.name },
      estimateCost: () => readCost(client.prices, 'interaction_delete', 1),
    },
  );

export const followUser = (client: Client) =>
  xTool(
    followUserSpec,
    client,
    async ({ target_user_id: id }, { scope }) => {
      const relation = { route: routes.follow, ...relations.following };
      const { now, beside } = await add(client, relation, { target_user_id: id }, scope);
      const following = now['following'] === true;
      // A protected account has to agree first.
      const pending = now['pending_follow'] === true;
      if (!following && !pending) return notDone();
      return { target_user_id: id, following, pending_follow: pending, ...beside };
    },
    { estimateCost: () => readCost(client.prices, 'interaction_create', 1) },
  );

export const unfollowUser = (client: Client) =>
  xTool(
    unfollowUserSpec,
    client,
    async ({ target_user_id: id }, { scope }) => {
      const relation = { route: routes.unfollow, ...relations.following };
      const { now, beside } = await remove(client, relation, id, scope);
      return { target_user_id: id, following: now, ...beside };
    },
    {
      inverse: { of: followUserSpec.name },
      estimateCost: () => readCost(client.prices, 'interaction_delete', 1),
    },
  );

export const retweet = (client: Client) =>
  xTool(
    retweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.repost, ...relations.retweets };
      const { now, beside } = await add(client, relation, { tweet_id: id }, scope);
      return now['retweeted'] === true ? { tweet_id: id, retweeted: true, ...beside } : notDone();
    },
    { estimateCost: () => readCost(client.prices, 'interaction_create', 1) },
  );

export const unretweet = (client: Client) =>
  xTool(
    unretweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.unrepost, ...relations.retweets };
      const { now, beside } = await remove(client, relation, id, scope);
      return { tweet_id: id, retweeted: now, ...beside };
    },
    {
      inverse: { of: retweetSpec.name },
      estimateCost: () => readCost(client.prices, 'interaction_delete', 1),
    },
  );

export const bookmarkTweet = (client: Client) =>
  xTool(
    bookmarkTweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.bookmark, ...relations.bookmarks };
      const { now, beside } = await add(client, relation, { tweet_id: id }, scope);
      return now['bookmarked'] === true ? { tweet_id: id, bookmarked: true, ...beside } : notDone();
    },
    { estimateCost: () => readCost(client.prices, 'bookmark', 1) },
  );

export const unbookmarkTweet = (client: Client) =>
  xTool(
    unbookmarkTweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.unbookmark, ...relations.bookmarks };
      const { now, beside } = await remove(client, relation, id, scope);
      return { tweet_id: id, bookmarked: now, ...beside };
    },
    {
      inverse: { of: bookmarkTweetSpec.name },
      estimateCost: () => readCost(client.prices, 'interaction_delete', 1),
    },
  );
