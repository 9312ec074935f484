import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { listSchema, postSchema, userSchema } from '../../model.js';
import {
  id,
  listList,
  maxResults,
  paginationToken,
  partialErrors,
  postRange,
  readTraits,
  tweetId,
  tweetList,
  userId,
  userList,
  usersOutput,
} from './common.js';

export const getTweetByIdSpec = specifyTool({
  ...readTraits,
  name: 'get_tweet_by_id',
  title: 'Get a tweet',
  description: 'Returns one tweet: text, author, links, media, referenced tweets, counts.',
  input: z.object({
    tweet_id: tweetId,
    text_from: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('For a text that is cut: its text_continues_at.'),
  }),
  output: z.strictObject({ tweet: postSchema, partial_errors: partialErrors }),
});

export const searchTweetsSpec = specifyTool({
  ...readTraits,
  name: 'x_search_tweets',
  title: 'Search tweets',
  description:
    'Searches the tweets of the last seven days with X search operators, e.g. "from:nasa has:media -is:retweet".',
  input: z.object({
    query: z.string().min(1).max(4096),
    max_results: maxResults(100, 10),
    sort_order: z.enum(['recency', 'relevancy']).optional(),
    ...postRange,
    pagination_token: paginationToken,
  }),
  ...tweetList,
});

export const getUserTweetsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_user_tweets',
  title: 'Tweets of an account',
  description: 'Lists the tweets of an account, newest first.',
  input: z.object({
    user_id: userId,
    max_results: maxResults(100, 10),
    exclude: z
      .array(z.enum(['replies', 'retweets']))
      .max(2)
      .optional(),
    ...postRange,
    pagination_token: paginationToken,
  }),
  ...tweetList,
});

export const getUserMentionsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_user_mentions',
  title: 'Mentions',
  description:
    'Lists the tweets that mention an account, newest first. Default: the authenticated account.',
  input: z.object({
    user_id: id.optional().describe('The id of the account. Default: the authenticated account.'),
    max_results: maxResults(100, 10),
    ...postRange,
    pagination_token: paginationToken,
  }),
  ...tweetList,
});

export const getHomeTimelineSpec = specifyTool({
  ...readTraits,
  name: 'x_get_home_timeline',
  title: 'Home timeline',
  description:
    'Lists the tweets of the accounts that the authenticated account follows, newest first.',
  input: z.object({
    max_results: maxResults(100, 20),
    ...postRange,
    pagination_token: paginationToken,
  }),
  ...tweetList,
});

export const getLikedTweetsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_liked_tweets',
  title: 'Liked tweets',
  description: 'Lists the tweets that an account has liked.',
  input: z.object({
    user_id: userId,
    max_results: maxResults(100, 10),
    pagination_token: paginationToken,
  }),
  ...tweetList,
});

export const getBookmarksSpec = specifyTool({
  ...readTraits,
  name: 'x_get_bookmarks',
  title: 'Bookmarks',
  description: 'Lists the tweets that the authenticated account has bookmarked.',
  input: z.object({ max_results: maxResults(100, 10), pagination_token: paginationToken }),
  ...tweetList,
});

const userOutput = z.strictObject({ user: userSchema, partial_errors: partialErrors });

const pageOfUsers = {
  user_id: userId,
  max_results: maxResults(1000, 100),
  pagination_token: paginationToken,
};

export const getMeSpec = specifyTool({
  ...readTraits,
  name: 'x_get_me',
  title: 'Authenticated account',
  description: 'Returns the profile of the authenticated account.',
  input: z.object({}),
  output: userOutput,
});

export const getUserByUsernameSpec = specifyTool({
  ...readTraits,
  name: 'x_get_user_by_username',
  title: 'Account by name',
  description: 'Returns the profile of an account by its name, with or without @.',
  input: z.object({
    username: z.string().regex(/^@?\w{1,15}$/, 'must be 1 to 15 letters, digits or _'),
  }),
  output: userOutput,
});

export const getUserByIdSpec = specifyTool({
  ...readTraits,
  name: 'x_get_user_by_id',
  title: 'Account by id',
  description: 'Returns the profile of an account by its id.',
  input: z.object({ user_id: userId }),
  output: userOutput,
});

export const getUsersByIdsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_users_by_ids',
  title: 'Accounts by id',
  description:
    'Returns the profiles of up to 100 accounts. Accounts that X does not have are in partial_errors.',
  input: z.object({ user_ids: z.array(id).min(1).max(100) }),
  output: usersOutput,
});

export const getFollowersSpec = specifyTool({
  ...readTraits,
  name: 'x_get_followers',
  title: 'Followers',
  description: 'Lists the accounts that follow an account.',
  input: z.object(pageOfUsers),
  ...userList,
});

export const getFollowingSpec = specifyTool({
  ...readTraits,
  name: 'x_get_following',
  title: 'Following',
  description: 'Lists the accounts that an account follows.',
  input: z.object(pageOfUsers),
  ...userList,
});

export const getTweetLikingUsersSpec = specifyTool({
  ...readTraits,
  name: 'x_get_tweet_liking_users',
  title: 'Accounts that liked a tweet',
  description: 'Lists the accounts that have liked a tweet.',
  input: z.object({
    tweet_id: tweetId,
    max_results: maxResults(100, 100),
    pagination_token: paginationToken,
  }),
  ...userList,
});

const listId = id.describe('The id of the list.');
const page = { max_results: maxResults(100, 100), pagination_token: paginationToken };

export const getListSpec = specifyTool({
  ...readTraits,
  name: 'x_get_list',
  title: 'Get a list',
  description: 'Returns one list of accounts: name, owner, size.',
  input: z.object({ list_id: listId }),
  output: z.strictObject({ list: listSchema, partial_errors: partialErrors }),
});

export const getListTweetsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_list_tweets',
  title: 'Tweets of a list',
  description: 'Lists the tweets of the accounts in a list, newest first.',
  input: z.object({
    list_id: listId,
    max_results: maxResults(100, 10),
    pagination_token: paginationToken,
  }),
  ...tweetList,
});

export const getListMembersSpec = specifyTool({
  ...readTraits,
  name: 'x_get_list_members',
  title: 'Members of a list',
  description: 'Lists the accounts in a list.',
  input: z.object({ list_id: listId, ...page }),
  ...userList,
});

export const getOwnedListsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_owned_lists',
  title: 'Lists of an account',
  description: 'Lists the lists that an account owns.',
  input: z.object({ user_id: userId, ...page }),
  ...listList,
});

export const getListMembershipsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_list_memberships',
  title: 'Lists with an account',
  description: 'Lists the lists that contain an account.',
  input: z.object({ user_id: userId, ...page }),
  ...listList,
});
