import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { tweetId, userId } from './arguments.js';
import { partialErrors } from './paging.js';
import { engageTraits, undoTraits } from './traits.js';

const onTweet = z.object({ tweet_id: tweetId });
const onUser = z.object({ target_user_id: userId });
const beside = { partial_errors: partialErrors.optional() };
const tweetState = <Flag extends string>(flag: Flag) =>
  z.strictObject({ tweet_id: z.string(), [flag]: z.boolean(), ...beside } as {
    tweet_id: z.ZodString;
  } & typeof beside &
    Record<Flag, z.ZodBoolean>);

export const likeTweetSpec = specifyTool({
  ...engageTraits,
  name: 'x_like_tweet',
  title: 'Like a tweet',
  description: 'Likes a tweet with our account. X gives this to its enterprise tier only.',
  input: onTweet,
  output: tweetState('liked'),
});

export const unlikeTweetSpec = specifyTool({
  ...undoTraits,
  name: 'x_unlike_tweet',
  title: 'Take a like back',
  description: 'Takes the like of our account back. X gives this to its enterprise tier only.',
  input: onTweet,
  output: tweetState('liked'),
});

export const followUserSpec = specifyTool({
  ...engageTraits,
  name: 'x_follow_user',
  title: 'Follow an account',
  description:
    'Follows an account, or asks to if it is protected. X gives this to its enterprise tier only.',
  input: onUser,
  output: z.strictObject({
    target_user_id: z.string(),
    following: z.boolean(),
    pending_follow: z.boolean(),
    ...beside,
  }),
});

export const unfollowUserSpec = specifyTool({
  ...undoTraits,
  name: 'x_unfollow_user',
  title: 'Stop following',
  description: 'Stops following an account.',
  input: onUser,
  output: z.strictObject({ target_user_id: z.string(), following: z.boolean(), ...beside }),
});

export const retweetSpec = specifyTool({
  ...engageTraits,
  name: 'x_retweet',
  title: 'Retweet',
  description: 'Shows a tweet to the followers of our account.',
  input: onTweet,
  output: tweetState('retweeted'),
});

export const unretweetSpec = specifyTool({
  ...undoTraits,
  name: 'x_unretweet',
  title: 'Take a retweet back',
  description: 'Takes the retweet of our account back.',
  input: onTweet,
  output: tweetState('retweeted'),
});

export const bookmarkTweetSpec = specifyTool({
  ...engageTraits,
  name: 'x_bookmark_tweet',
  title: 'Bookmark a tweet',
  description: 'Puts a tweet among the bookmarks of our account. Nobody else sees them.',
  input: onTweet,
  output: tweetState('bookmarked'),
});

export const unbookmarkTweetSpec = specifyTool({
  ...undoTraits,
  name: 'x_unbookmark_tweet',
  title: 'Remove a bookmark',
  description: 'Takes a tweet out of the bookmarks of our account.',
  input: onTweet,
  output: tweetState('bookmarked'),
});
