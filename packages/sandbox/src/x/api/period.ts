import { invalid } from '../problem/problem.js';
import { compareIds } from '../world/snowflake.js';
import type { Post } from '../world/things.js';
import { idIn, instantIn } from './query.js';

export const PERIOD = ['since_id', 'until_id', 'start_time', 'end_time'] as const;

/** Which posts are asked for: after and before an id or a time. */
export function periodIn(query: URLSearchParams): (post: Post) => boolean {
  const [since, until] = [idIn(query, 'since_id'), idIn(query, 'until_id')];
  const [start, end] = [instantIn(query, 'start_time'), instantIn(query, 'end_time')];
  if (start !== undefined && end !== undefined && start >= end)
    throw invalid("Invalid 'start_time'. 'start_time' must be a date before 'end_time'", {
      start_time: [query.get('start_time') ?? ''],
    });
  return ({ id, createdAt }) =>
    (since === undefined || compareIds(id, since) > 0) &&
    (until === undefined || compareIds(id, until) < 0) &&
    (start === undefined || createdAt >= start) &&
    (end === undefined || createdAt < end);
}
