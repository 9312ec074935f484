import { answer } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { Post, User } from '../model.js';
import type { ItemResult, PostRange } from '../api/provider.js';
import { itemCost } from '../cost.js';
import { cutText } from '../text/strings.js';
import { listTool, shortWindow } from './list-tool.js';
import {
  getBookmarksSpec,
  getFollowersSpec,
  getFollowingSpec,
  getHomeTimelineSpec,
  getLikedTweetsSpec,
  getListMembershipsSpec,
  getListMembersSpec,
  getListSpec,
  getListTweetsSpec,
  getMeSpec,
  getOwnedListsSpec,
  getTweetByIdSpec,
  getTweetLikingUsersSpec,
  getUserByIdSpec,
  getUserByUsernameSpec,
  getUserMentionsSpec,
  getUsersByIdsSpec,
  getUserTweetsSpec,
  searchTweetsSpec,
} from './specs/read.js';
import { xTool } from './tool.js';

export const readTools = (client: Client) => [
  ...tweetTools(client),
  ...userTools(client),
  ...listTools(client),
];

interface RangeArguments {
  readonly since_id?: string | undefined;
  readonly until_id?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
}

const rangeOf = (args: RangeArguments): PostRange => ({
  sinceId: args.since_id,
  untilId: args.until_id,
  startTime: args.start_time,
  endTime: args.end_time,
});

const ofTweets = {
  items: 'tweets',
  price: 'post_read',
  show: (post: Post): Post => cutText(post),
} as const;

function tweetTools(client: Client) {
  const { provider, account, prices } = client;
  return [
    xTool(
      getTweetByIdSpec,
      client,
      async ({ tweet_id: id, text_from: from }, { call }) => {
        const { item, partialErrors, limits } = await provider.getPost({ id }, call);
        const data = { tweet: cutText(item, from), partial_errors: partialErrors };
        return answer(data, { rateLimit: shortWindow(limits) });
      },
      { estimateCost: () => itemCost(prices, 'post_read', 1) },
    ),
    listTool(searchTweetsSpec, client, {
      ...ofTweets,
      minimum: 10,
      fetch: (args, page, call) => {
        const search = { query: args.query, sortOrder: args.sort_order, ...rangeOf(args) };
        return provider.searchPosts({ ...search, ...page }, call);
      },
    }),
    listTool(getUserTweetsSpec, client, {
      ...ofTweets,
      minimum: 5,
      fetch: (args, page, call) => {
        const query = { id: args.user_id, exclude: args.exclude, ...rangeOf(args) };
        return provider.getUserPosts({ ...query, ...page }, call);
      },
    }),
    listTool(getUserMentionsSpec, client, {
      ...ofTweets,
      minimum: 5,
      fetch: async (args, page, call) => {
        const id = args.user_id ?? (await account.userId(call));
        return provider.getUserMentions({ id, ...rangeOf(args), ...page }, call);
      },
    }),
    listTool(getHomeTimelineSpec, client, {
      ...ofTweets,
      fetch: async (args, page, call) => {
        const id = await account.userId(call);
        return provider.getHomeTimeline({ id, ...rangeOf(args), ...page }, call);
      },
    }),
    listTool(getLikedTweetsSpec, client, {
      ...ofTweets,
      minimum: 5,
      fetch: ({ user_id: id }, page, call) => provider.getLikedPosts({ id, ...page }, call),
    }),
    listTool(getBookmarksSpec, client, {
      ...ofTweets,
      fetch: async (_, page, call) => {
        const id = await account.userId(call);
        return provider.getBookmarks({ id, ...page }, call);
      },
    }),
  ];
}

const userAnswer = ({ item, partialErrors, limits }: ItemResult<User>) =>
  answer({ user: item, partial_errors: partialErrors }, { rateLimit: shortWindow(limits) });

function userTools(client: Client) {
  const { provider, prices } = client;
  const oneUser = { estimateCost: () => itemCost(prices, 'user_read', 1) };
  return [
    xTool(
      getMeSpec,
      client,
      async (_, { call }) => userAnswer(await provider.getMe(undefined, call)),
      oneUser,
    ),
    xTool(
      getUserByUsernameSpec,
      client,
      async (args, { call }) => {
        const username = args.username.replace(/^@/, '');
        return userAnswer(await provider.getUserByUsername({ username }, call));
      },
      oneUser,
    ),
    xTool(
      getUserByIdSpec,
      client,
      async ({ user_id: id }, { call }) => userAnswer(await provider.getUserById({ id }, call)),
      oneUser,
    ),
    xTool(
      getUsersByIdsSpec,
      client,
      async ({ user_ids: ids }, { call }) => {
        const { items, partialErrors, limits } = await provider.getUsersByIds({ ids }, call);
        const data = { users: items, partial_errors: partialErrors };
        return answer(data, { rateLimit: shortWindow(limits) });
      },
      { estimateCost: ({ user_ids: ids }) => itemCost(prices, 'user_read', ids.length) },
    ),
    listTool(getFollowersSpec, client, {
      items: 'users',
      price: 'follow_read',
      fetch: ({ user_id: id }, page, call) => provider.getFollowers({ id, ...page }, call),
    }),
    listTool(getFollowingSpec, client, {
      items: 'users',
      price: 'follow_read',
      fetch: ({ user_id: id }, page, call) => provider.getFollowing({ id, ...page }, call),
    }),
    listTool(getTweetLikingUsersSpec, client, {
      items: 'users',
      price: 'user_read',
      fetch: ({ tweet_id: id }, page, call) => provider.getLikingUsers({ id, ...page }, call),
    }),
  ];
}

function listTools(client: Client) {
  const { provider } = client;
  return [
    xTool(getListSpec, client, async ({ list_id: id }, { call }) => {
      const { item, partialErrors, limits } = await provider.getList({ id }, call);
      const data = { list: item, partial_errors: partialErrors };
      return answer(data, { rateLimit: shortWindow(limits) });
    }),
    listTool(getListTweetsSpec, client, {
      ...ofTweets,
      fetch: ({ list_id: id }, page, call) => provider.getListPosts({ id, ...page }, call),
    }),
    listTool(getListMembersSpec, client, {
      items: 'users',
      price: 'user_read',
      fetch: ({ list_id: id }, page, call) => provider.getListMembers({ id, ...page }, call),
    }),
    listTool(getOwnedListsSpec, client, {
      items: 'lists',
      fetch: ({ user_id: id }, page, call) => provider.getOwnedLists({ id, ...page }, call),
    }),
    listTool(getListMembershipsSpec, client, {
      items: 'lists',
      fetch: ({ user_id: id }, page, call) => provider.getListMemberships({ id, ...page }, call),
    }),
  ];
}
