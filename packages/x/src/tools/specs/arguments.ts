import * as z from 'zod';

/** As X numbers everything. It is a text: JavaScript's numbers are too short for it. */
export const id = z.string().regex(/^[0-9]{1,19}$/, 'must be 1 to 19 digits, as a text');

export const tweetId = id.describe('The id of the tweet.');
export const userId = id.describe('The id of the account, not its name.');

export const maxResults = (max: number, initial: number) =>
  z.int().min(1).max(max).default(initial).describe(`How many at most. Default: ${initial}.`);

export const paginationToken = z
  .string()
  .max(4096)
  .optional()
  .describe('meta.pagination.next_token of the answer before.');

const moment = z.iso.datetime({ offset: true }).optional();

/** Which posts, by age. */
export const postRange = {
  since_id: id.optional().describe('Only posts that are newer than this one.'),
  until_id: id.optional().describe('Only posts that are older than this one.'),
  start_time: moment.describe('Only posts since then: 2026-06-01T00:00:00Z.'),
  end_time: moment.describe('Only posts before then.'),
};

export const text = z.string().max(25_000);

export const mediaIds = z
  .array(id)
  .max(4)
  .describe('Media to attach, as x_upload_media gave them: 4 images, or 1 video or GIF.');

export const postOptions = {
  media_ids: mediaIds.optional(),
  reply_settings: z
    .enum(['following', 'mentionedUsers', 'subscribers', 'verified'])
    .optional()
    .describe('Who may reply. Left out: everybody.'),
  made_with_ai: z
    .boolean()
    .optional()
    .describe('Whether to disclose that the media were generated.'),
};
