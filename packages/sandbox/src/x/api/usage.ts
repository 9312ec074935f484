import type { Handler } from './call.js';

/** How much of the month's reads is used up. */
export const usage: Handler = ({ account, names }) => ({
  body: {
    data: {
      cap_reset_day: 1,
      project_cap: String(account.postCap),
      project_id: names.accountId,
      project_usage: String(account.postsRead()),
    },
  },
});
