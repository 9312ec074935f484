import * as z from 'zod';

const count = z.record(z.string(), z.number());

/** A post as tools return it: with unescaped text, and the full text of a long post if it fits. */
export const postSchema = z.strictObject({
  id: z.string(),
  text: z.string(),
  text_continues_at: z
    .int()
    .optional()
    .describe('The text is cut: call get_tweet_by_id with this as text_from.'),
  author_id: z.string().optional(),
  author_username: z.string().optional(),
  author_followers: z.number().optional(),
  created_at: z.string().optional(),
  conversation_id: z.string().optional(),
  in_reply_to_user_id: z.string().optional(),
  lang: z.string().optional(),
  reply_settings: z.string().optional(),
  referenced_tweets: z.array(z.strictObject({ type: z.string(), id: z.string() })).optional(),
  urls: z.array(z.strictObject({ url: z.string(), expanded_url: z.string() })).optional(),
  media: z
    .array(
      z.strictObject({
        media_key: z.string(),
        type: z.string().optional(),
        url: z.string().optional(),
        alt_text: z.string().optional(),
      }),
    )
    .optional(),
  poll: z
    .strictObject({
      options: z.array(z.strictObject({ label: z.string(), votes: z.number().optional() })),
      duration_minutes: z.number().optional(),
      voting_status: z.string().optional(),
    })
    .optional(),
  public_metrics: count.optional(),
});

export const userSchema = z.strictObject({
  id: z.string(),
  username: z.string(),
  name: z.string().optional(),
  created_at: z.string().optional(),
  description: z.string().optional(),
  location: z.string().optional(),
  url: z.string().optional(),
  profile_image_url: z.string().optional(),
  pinned_tweet_id: z.string().optional(),
  protected: z.boolean().optional(),
  verified: z.boolean().optional(),
  verified_type: z.string().optional(),
  public_metrics: count.optional(),
});

export const listSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  owner_id: z.string().optional(),
  private: z.boolean().optional(),
  created_at: z.string().optional(),
  follower_count: z.number().optional(),
  member_count: z.number().optional(),
});

/** A requested item that X did not return, beside those that it did. */
export const partialErrorSchema = z.strictObject({
  reason: z.string(),
  resource_type: z.string().optional(),
  resource_id: z.string().optional(),
  parameter: z.string().optional(),
  message: z.string().optional(),
});

export type Post = Readonly<z.output<typeof postSchema>>;
export type User = Readonly<z.output<typeof userSchema>>;
export type List = Readonly<z.output<typeof listSchema>>;
export type PartialError = Readonly<z.output<typeof partialErrorSchema>>;
