import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { xCodes } from '../../codes.js';
import {
  engageTraits,
  id,
  inverseTraits,
  mediaIds,
  partialErrors,
  postOptions,
  postTraits,
  text,
  tweetId,
  userId,
  writeTraits,
} from './common.js';

const postedSchema = z.strictObject({
  id: z.string(),
  text: z.string(),
  partial_errors: partialErrors.optional(),
});

const poll = z
  .strictObject({
    options: z.array(z.string().min(1).max(25)).min(2).max(4),
    duration_minutes: z.int().min(5).max(10_080),
  })
  .describe('Not together with media.');

export const postTweetSpec = specifyTool({
  ...postTraits,
  name: 'x_post_tweet',
  title: 'Post a tweet',
  description: 'Posts a tweet. With a link, X charges thirteen times as much.',
  input: z.object({ text, ...postOptions, poll: poll.optional() }),
  output: postedSchema,
});

export const replyToTweetSpec = specifyTool({
  ...postTraits,
  name: 'x_reply_to_tweet',
  title: 'Reply to a tweet',
  description:
    'Replies to a tweet. Below the enterprise tier, X requires that its author has mentioned or quoted this account.',
  input: z.object({
    text,
    in_reply_to_id: id.describe('The id of the tweet to reply to.'),
    ...postOptions,
  }),
  output: postedSchema,
});

export const quoteTweetSpec = specifyTool({
  ...postTraits,
  name: 'x_quote_tweet',
  title: 'Quote a tweet',
  description: 'Quotes a tweet. Requires the enterprise tier of X.',
  input: z.object({
    text,
    quoted_tweet_id: id.describe('The id of the tweet to quote.'),
    ...postOptions,
  }),
  output: postedSchema,
});

export const postThreadSpec = specifyTool({
  ...postTraits,
  name: 'x_post_thread',
  title: 'Post a thread',
  description:
    'Posts several tweets, each in reply to the previous one. After a partial failure, the same call resumes.',
  input: z.object({
    tweets: z.array(text).min(1).max(25),
    media_ids: z
      .array(mediaIds)
      .max(25)
      .optional()
      .describe('The media of each tweet, in the order of `tweets`.'),
    reply_settings: postOptions.reply_settings,
    made_with_ai: postOptions.made_with_ai,
  }),
  output: z.strictObject({ root_id: z.string(), tweets: z.array(postedSchema) }),
  partial: z.strictObject({
    posted: z.array(z.strictObject({ index: z.int(), id: z.string() })),
    failed: z
      .strictObject({
        index: z.int(),
        code: z.string(),
        message: z.string(),
        retry_after_ms: z.number().optional(),
      })
      .optional()
      .describe('The part that was not posted.'),
    unknown: z
      .strictObject({ index: z.int(), code: z.string(), message: z.string() })
      .optional()
      .describe('The part with an unknown outcome.'),
    unposted: z.int().describe('How many parts were not posted.'),
  }),
  // An operator who settles a part as posted gives its id; the text is the requested one.
  step: postedSchema.extend({ id, text: z.string().optional() }),
  errors: [...postTraits.errors, 'thread_partial_failure'],
});

export const deleteTweetSpec = specifyTool({
  ...writeTraits,
  category: 'write',
  name: 'x_delete_tweet',
  title: 'Delete a tweet',
  description: 'Deletes a tweet of this account. This cannot be undone.',
  input: z.object({ tweet_id: tweetId }),
  output: z.strictObject({
    id: z.string(),
    deleted: z.boolean(),
    partial_errors: partialErrors.optional(),
  }),
});

const onTweet = z.object({ tweet_id: tweetId });
const onUser = z.object({ target_user_id: userId });
const warnings = { partial_errors: partialErrors.optional() };
const tweetState = <Flag extends string>(flag: Flag) =>
  z.strictObject({ tweet_id: z.string(), [flag]: z.boolean(), ...warnings } as {
    tweet_id: z.ZodString;
  } & typeof warnings &
    Record<Flag, z.ZodBoolean>);

export const likeTweetSpec = specifyTool({
  ...engageTraits,
  name: 'x_like_tweet',
  title: 'Like a tweet',
  description: 'Likes a tweet. Requires the enterprise tier of X.',
  input: onTweet,
  output: tweetState('liked'),
});

export const unlikeTweetSpec = specifyTool({
  ...inverseTraits,
  name: 'x_unlike_tweet',
  title: 'Unlike a tweet',
  description: 'Removes the like from a tweet. Requires the enterprise tier of X.',
  input: onTweet,
  output: tweetState('liked'),
});

export const followUserSpec = specifyTool({
  ...engageTraits,
  name: 'x_follow_user',
  title: 'Follow an account',
  description:
    'Follows an account, or requests to follow a protected one. Requires the enterprise tier of X.',
  input: onUser,
  output: z.strictObject({
    target_user_id: z.string(),
    following: z.boolean(),
    pending_follow: z.boolean(),
    ...warnings,
  }),
});

export const unfollowUserSpec = specifyTool({
  ...inverseTraits,
  name: 'x_unfollow_user',
  title: 'Unfollow an account',
  description: 'Unfollows an account.',
  input: onUser,
  output: z.strictObject({ target_user_id: z.string(), following: z.boolean(), ...warnings }),
});

export const retweetSpec = specifyTool({
  ...engageTraits,
  name: 'x_retweet',
  title: 'Retweet',
  description: 'Retweets a tweet to the followers of this account.',
  input: onTweet,
  output: tweetState('retweeted'),
});

export const unretweetSpec = specifyTool({
  ...inverseTraits,
  name: 'x_unretweet',
  title: 'Remove a retweet',
  description: 'Removes the retweet of a tweet.',
  input: onTweet,
  output: tweetState('retweeted'),
});

export const bookmarkTweetSpec = specifyTool({
  ...engageTraits,
  name: 'x_bookmark_tweet',
  title: 'Bookmark a tweet',
  description: 'Bookmarks a tweet. Bookmarks are private.',
  input: onTweet,
  output: tweetState('bookmarked'),
});

export const unbookmarkTweetSpec = specifyTool({
  ...inverseTraits,
  name: 'x_unbookmark_tweet',
  title: 'Remove a bookmark',
  description: 'Removes a tweet from the bookmarks.',
  input: onTweet,
  output: tweetState('bookmarked'),
});

export const uploadMediaSpec = specifyTool({
  ...writeTraits,
  category: 'media',
  // A repeated upload is an unused file that X deletes after a day.
  effect: 'idempotent',
  destructive: false,
  errors: [...xCodes, 'unsupported_media_type', 'file_read_error', 'media_upload_error'],
  name: 'x_upload_media',
  title: 'Upload media',
  description:
    'Uploads an image, GIF or video for a tweet, from a configured folder. dry_run only checks the file.',
  input: z.object({
    file_path: z.string().min(1).max(4096),
    alt_text: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe('What the image shows, for screen readers.'),
    dry_run: z.boolean().default(false),
  }),
  output: z.strictObject({
    media_id: z.string().nullable().describe('null after a dry run.'),
    media_key: z.string().nullable(),
    media_type: z.string(),
    media_category: z.string(),
    size_bytes: z.int(),
    state: z.enum(['checked', 'processing', 'ready']),
    expires_in_secs: z.number().nullable(),
  }),
  partial: z
    .strictObject({
      media_id: z.string(),
      media_key: z.string().nullable(),
      stage: z.enum(['finalize', 'processing', 'alt_text']),
      expires_in_secs: z.number().nullable(),
    })
    .describe(
      'X has the file, and a later stage failed. At the stage finalize, whether X has it is unknown.',
    ),
});
