import * as z from 'zod';
import { xCodes } from '../../codes.js';
import { listSchema, partialErrorSchema, postSchema, userSchema } from '../../model.js';

export const readTraits = {
  category: 'read',
  effect: 'read',
  requires: ['x_client'],
  errors: xCodes,
} as const;

export const writeTraits = {
  effect: 'idempotent',
  send: 'explicit',
  requires: ['x_client'],
  errors: xCodes,
} as const;

/** Equal arguments within this window are a retry, not a second request. */
const DEDUP_WINDOW_MS = 30_000;

/** Adds to a set (likes, follows, …); repeating the call leaves the same state. */
export const engageTraits = {
  ...writeTraits,
  category: 'engage',
  destructive: false,
  window: DEDUP_WINDOW_MS,
} as const;

/** The inverse of an engagement. Inverses have no dedup window. */
export const inverseTraits = { ...writeTraits, category: 'engage' } as const;

/** Creates a post; repeating the call creates a second one. */
export const postTraits = {
  ...writeTraits,
  category: 'write',
  effect: 'once',
  destructive: false,
  retryUnsent: true,
  window: DEDUP_WINDOW_MS,
  errors: [...xCodes, 'tweet_too_long', 'invalid_input'],
} as const;

/** Describes this installation rather than X. */
export const metaTraits = {
  category: 'meta',
  effect: 'read',
  errors: [],
} as const;

/** A string, because X's ids exceed the safe integer range of JavaScript. */
export const id = z.string().regex(/^[0-9]{1,19}$/, 'must be a string of 1 to 19 digits');

export const tweetId = id.describe('The id of the tweet.');
export const userId = id.describe('The id of the account, not its name.');

export const maxResults = (max: number, initial: number) =>
  z.int().min(1).max(max).default(initial);

export const paginationToken = z
  .string()
  .max(4096)
  .optional()
  .describe('meta.pagination.next_token.');

const timestamp = z.iso.datetime({ offset: true }).optional();

/** Limits a list of posts by age. */
export const postRange = {
  since_id: id.optional().describe('Only posts newer than this one.'),
  until_id: id.optional().describe('Only posts older than this one.'),
  start_time: timestamp.describe('Only posts since then: 2026-06-01T00:00:00Z.'),
  end_time: timestamp.describe('Only posts before then.'),
};

export const text = z.string().max(25_000);

export const mediaIds = z
  .array(id)
  .max(4)
  .describe('Media ids from x_upload_media: 4 images, or 1 video or GIF.');

export const postOptions = {
  media_ids: mediaIds.optional(),
  reply_settings: z
    .enum(['following', 'mentionedUsers', 'subscribers', 'verified'])
    .optional()
    .describe('Who may reply. Default: everyone.'),
  made_with_ai: z.boolean().optional().describe('Discloses that the media were generated.'),
};

/**
 * The position in a list: X's own token, and the last item returned where X's page was cut. `seen` holds
 * marks of the previous pages and tokens, so that a list whose pages form a cycle ends.
 */
const cursorSchema = z.strictObject({
  t: z.string().max(1024).optional(),
  after: id.optional(),
  n: z.int().min(1).max(1000).optional(),
  seen: z.array(z.string().max(16)).max(64).optional(),
  empty: z.int().min(0).optional(),
});

export type CursorSchema = typeof cursorSchema;
export type PageCursor = Readonly<z.output<typeof cursorSchema>>;

export type ListName = 'tweets' | 'users' | 'lists';

const paged = (items: ListName) =>
  ({
    token: 'pagination_token',
    cursor: cursorSchema,
    items,
    unbound: ['max_results'],
  }) as const;

export const partialErrors = z
  .array(partialErrorSchema)
  .describe('Items that X did not return, and why.');

export const usersOutput = z.strictObject({
  users: z.array(userSchema),
  partial_errors: partialErrors,
});

export const tweetList = {
  output: z.strictObject({ tweets: z.array(postSchema), partial_errors: partialErrors }),
  paging: paged('tweets'),
} as const;
export const userList = { output: usersOutput, paging: paged('users') } as const;
export const listList = {
  output: z.strictObject({ lists: z.array(listSchema), partial_errors: partialErrors }),
  paging: paged('lists'),
} as const;
