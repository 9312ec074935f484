import { profilesFrom, specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { xCodes } from '../../codes.js';
import { id, mediaIds, postOptions, text, tweetId } from './arguments.js';
import { partialErrors } from './paging.js';
import { postTraits } from './traits.js';

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
  description:
    'Posts a tweet with our account. A link costs X thirteen times as much as a tweet without one.',
  input: z.object({ text, ...postOptions, poll: poll.optional() }),
  output: postedSchema,
});

export const replyToTweetSpec = specifyTool({
  ...postTraits,
  name: 'x_reply_to_tweet',
  title: 'Reply to a tweet',
  description:
    'Replies to a tweet. Outside of its enterprise tier X allows it only if the author has mentioned or quoted our account.',
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
  description: 'Posts a tweet that shows another one. X gives this to its enterprise tier only.',
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
    'Posts several tweets, each in reply to the one before. If it stops half way, the same call goes on where it stopped.',
  input: z.object({
    tweets: z.array(text).min(1).max(25),
    media_ids: z
      .array(mediaIds)
      .max(25)
      .optional()
      .describe('For each tweet its media, in the order of `tweets`.'),
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
      .describe('The part that surely is not posted.'),
    unknown: z
      .strictObject({ index: z.int(), code: z.string(), message: z.string() })
      .optional()
      .describe('The part of which nobody knows whether it is posted.'),
    unposted: z.int().describe('How many parts surely are not.'),
  }),
  // Whoever says by hand that a part is posted knows its id, and the text is the one that was given.
  step: postedSchema.extend({ id, text: z.string().optional() }),
  errors: [...postTraits.errors, 'thread_partial_failure'],
});

export const deleteTweetSpec = specifyTool({
  category: 'write',
  effect: 'idempotent',
  send: 'explicit',
  profiles: profilesFrom('api'),
  requires: ['x_client'],
  errors: xCodes,
  name: 'x_delete_tweet',
  title: 'Delete a tweet',
  description: 'Deletes a tweet of our account. That cannot be undone.',
  input: z.object({ tweet_id: tweetId }),
  output: z.strictObject({
    id: z.string(),
    deleted: z.boolean(),
    partial_errors: partialErrors.optional(),
  }),
});
