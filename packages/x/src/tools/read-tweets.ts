import { answer } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { readCost } from '../cost/estimate.js';
import type { PostRange } from '../provider/provider.js';
import { listTool } from './list-tool.js';
import { ofTweets } from './of-tweets.js';
import { shortWindow } from './page-of.js';
import {
  getBookmarksSpec,
  getHomeTimelineSpec,
  getLikedTweetsSpec,
  getTweetByIdSpec,
  getUserMentionsSpec,
  getUserTweetsSpec,
  searchTweetsSpec,
} from './specs/read-tweets.js';
import { textPart } from './text-part.js';
import { xTool } from './tool.js';

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

export const getTweetById = (client: Client) =>
  xTool(
    getTweetByIdSpec,
    client,
    async ({ tweet_id: id, text_from: from }, { scope }) => {
      const { item, partialErrors, limits } = await client.provider.getPost({ id }, scope);
      const data = { tweet: textPart(item, from), partial_errors: partialErrors };
      return answer(data, { rateLimit: shortWindow(limits) });
    },
    { estimateCost: () => readCost(client.prices, 'post_read', 1) },
  );

export const searchTweets = (client: Client) =>
  listTool(searchTweetsSpec, client, {
    ...ofTweets,
    least: 10,
    fetch: (args, page, scope) => {
      const asked = { query: args.query, sortOrder: args.sort_order, ...rangeOf(args) };
      return client.provider.searchPosts({ ...asked, ...page }, scope);
    },
  });

export const getUserTweets = (client: Client) =>
  listTool(getUserTweetsSpec, client, {
    ...ofTweets,
    least: 5,
    fetch: (args, page, scope) => {
      const asked = { id: args.user_id, exclude: args.exclude, ...rangeOf(args) };
      return client.provider.getUserPosts({ ...asked, ...page }, scope);
    },
  });

export const getUserMentions = (client: Client) =>
  listTool(getUserMentionsSpec, client, {
    ...ofTweets,
    least: 5,
    fetch: async (args, page, scope) => {
      const id = args.user_id ?? (await client.account.userId(scope));
      return client.provider.getUserMentions({ id, ...rangeOf(args), ...page }, scope);
    },
  });

export const getHomeTimeline = (client: Client) =>
  listTool(getHomeTimelineSpec, client, {
    ...ofTweets,
    fetch: async (args, page, scope) => {
      const id = await client.account.userId(scope);
      return client.provider.getHomeTimeline({ id, ...rangeOf(args), ...page }, scope);
    },
  });

export const getLikedTweets = (client: Client) =>
  listTool(getLikedTweetsSpec, client, {
    ...ofTweets,
    least: 5,
    fetch: ({ user_id: id }, page, scope) => client.provider.getLikedPosts({ id, ...page }, scope),
  });

export const getBookmarks = (client: Client) =>
  listTool(getBookmarksSpec, client, {
    ...ofTweets,
    fetch: async (_, page, scope) => {
      const id = await client.account.userId(scope);
      return client.provider.getBookmarks({ id, ...page }, scope);
    },
  });
