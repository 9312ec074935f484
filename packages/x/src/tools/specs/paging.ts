import * as z from 'zod';
import { listSchema, partialErrorSchema, postSchema, userSchema } from '../../provider/model.js';
import { id } from './arguments.js';

/**
 * Where a list goes on: X's own token, and the last item where a page of X's was cut. `seen` knows the
 * pages and tokens that came before, so that a list which leads in a circle has an end.
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
  .describe('What X could not give, and why, beside what it gave.');

const tweetsOutput = z.strictObject({
  tweets: z.array(postSchema),
  partial_errors: partialErrors,
});
export const usersOutput = z.strictObject({
  users: z.array(userSchema),
  partial_errors: partialErrors,
});
const listsOutput = z.strictObject({
  lists: z.array(listSchema),
  partial_errors: partialErrors,
});

export const ofTweets = { output: tweetsOutput, paging: paged('tweets') } as const;
export const ofUsers = { output: usersOutput, paging: paged('users') } as const;
export const ofLists = { output: listsOutput, paging: paged('lists') } as const;
