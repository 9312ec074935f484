import { invalid } from '../problem/problem.js';
import { postsIn } from '../present/view.js';
import { parseQuery } from '../search/parse.js';
import { compareIds, snowflakeAt } from '../world/snowflake.js';
import { viewOf, type Call, type Handler, type XApi } from './call.js';
import { periodIn } from './period.js';
import { idIn, instantIn, wordsIn } from './query.js';
import { paged, postsReply } from './replies.js';

const RECENT = 7 * 24 * 60 * 60_000;

/** The last seven days. What asks for more is refused, not answered with less. */
function checkRecent({ query }: Call, now: number): void {
  const earliest = now - RECENT;
  const told = `${new Date(earliest).toISOString().slice(0, 16)}Z`;
  const start = instantIn(query, 'start_time');
  if (start !== undefined && start < earliest)
    throw invalid(
      `Invalid 'start_time':'${query.get('start_time') ?? ''}'. 'start_time' must be on or after ${told}`,
      { start_time: [query.get('start_time') ?? ''] },
    );
  const since = idIn(query, 'since_id');
  const oldest = snowflakeAt(earliest);
  if (since !== undefined && compareIds(since, oldest) < 0)
    throw invalid(
      `'since_id' must be a tweet id created after ${told}. Please use a 'since_id' that is larger than ${oldest}`,
      { since_id: [since] },
    );
}

function queryText({ query }: Call, api: XApi): string {
  const text = query.get('query') ?? '';
  const longest = api.tier() === 'enterprise' ? 4096 : 512;
  if (text.trim() === '')
    throw invalid('The `query` query parameter can not be empty', { query: [text] });
  if (text.length > longest)
    throw invalid(
      `Rule length is longer than maximum rule length. Rule length: ${text.length}. Maximum rule length: ${longest}.`,
      { query: [text] },
    );
  return text;
}

export const search: Handler = (api, call) => {
  const now = api.world.clock.now();
  checkRecent(call, now);
  const matches = parseQuery(queryText(call, api), api.world);
  const inPeriod = periodIn(call.query);
  wordsIn(call.query, 'sort_order', ['recency', 'relevancy']);
  const found = [
    ...postsIn(
      viewOf(api, call),
      (post) => post.createdAt > now - RECENT && inPeriod(post) && matches(post),
    ),
  ];
  const range = { min: 10, max: 100, usual: 10 };
  const { items, meta } = paged(call, found, range, { withIds: true, backwards: false });
  return postsReply(api, call, items, { meta });
};
