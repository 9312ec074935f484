import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { postSchema } from '../../provider/model.js';
import { id, maxResults, paginationToken, postRange, tweetId, userId } from './arguments.js';
import { ofTweets, partialErrors } from './paging.js';
import { readTraits } from './traits.js';

export const getTweetByIdSpec = specifyTool({
  ...readTraits,
  name: 'get_tweet_by_id',
  title: 'One tweet',
  description: 'Reads one tweet by its id: text, author, links, media, what it refers to, counts.',
  input: z.object({
    tweet_id: tweetId,
    text_from: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('For a text that is too long for one answer: text_continues_at of the one before.'),
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
  ...ofTweets,
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
  ...ofTweets,
});

export const getUserMentionsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_user_mentions',
  title: 'Mentions',
  description: 'Lists the tweets that mention an account, newest first; left out: our own account.',
  input: z.object({
    user_id: id.optional().describe('The id of the account. Left out: the one that is logged in.'),
    max_results: maxResults(100, 10),
    ...postRange,
    pagination_token: paginationToken,
  }),
  ...ofTweets,
});

export const getHomeTimelineSpec = specifyTool({
  ...readTraits,
  name: 'x_get_home_timeline',
  title: 'Home timeline',
  description: 'Lists what the accounts that ours follows have posted, newest first.',
  input: z.object({
    max_results: maxResults(100, 20),
    ...postRange,
    pagination_token: paginationToken,
  }),
  ...ofTweets,
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
  ...ofTweets,
});

export const getBookmarksSpec = specifyTool({
  ...readTraits,
  name: 'x_get_bookmarks',
  title: 'Bookmarks',
  description: 'Lists the tweets that our account has bookmarked.',
  input: z.object({ max_results: maxResults(100, 10), pagination_token: paginationToken }),
  ...ofTweets,
});
