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
      const { liked } = await add(client, relation, { tweet_id: id }, scope);
      return liked === true ? { tweet_id: id, liked } : notDone();
    },
    { estimateCost: () => readCost(client.prices, 'interaction_create', 1) },
  );

export const unlikeTweet = (client: Client) =>
  xTool(
    unlikeTweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.unlike, ...relations.likes };
      return { tweet_id: id, liked: await remove(client, relation, id, scope) };
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
      const data = await add(client, relation, { target_user_id: id }, scope);
      const following = data['following'] === true;
      // A protected account has to agree first.
      const pending = data['pending_follow'] === true;
      if (!following && !pending) return notDone();
      return { target_user_id: id, following, pending_follow: pending };
    },
    { estimateCost: () => readCost(client.prices, 'interaction_create', 1) },
  );

export const unfollowUser = (client: Client) =>
  xTool(
    unfollowUserSpec,
    client,
    async ({ target_user_id: id }, { scope }) => {
      const relation = { route: routes.unfollow, ...relations.following };
      return { target_user_id: id, following: await remove(client, relation, id, scope) };
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
      const { retweeted } = await add(client, relation, { tweet_id: id }, scope);
      return retweeted === true ? { tweet_id: id, retweeted } : notDone();
    },
    { estimateCost: () => readCost(client.prices, 'interaction_create', 1) },
  );

export const unretweet = (client: Client) =>
  xTool(
    unretweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.unrepost, ...relations.retweets };
      return { tweet_id: id, retweeted: await remove(client, relation, id, scope) };
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
      const { bookmarked } = await add(client, relation, { tweet_id: id }, scope);
      return bookmarked === true ? { tweet_id: id, bookmarked } : notDone();
    },
    { estimateCost: () => readCost(client.prices, 'bookmark', 1) },
  );

export const unbookmarkTweet = (client: Client) =>
  xTool(
    unbookmarkTweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const relation = { route: routes.unbookmark, ...relations.bookmarks };
      return { tweet_id: id, bookmarked: await remove(client, relation, id, scope) };
    },
    {
      inverse: { of: bookmarkTweetSpec.name },
      estimateCost: () => readCost(client.prices, 'interaction_delete', 1),
    },
  );
