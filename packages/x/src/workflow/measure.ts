import type { PackRecord } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { ReadContext } from '../api/provider.js';
import type { Post } from '../model.js';
import { OVERLAP_MS, POSTS, type MadePost, type Performance } from './history.js';

const HOUR_MS = 3_600_000;

/** Interactions per thousand impressions; replies and reposts count more than likes. */
export function performanceScore(
  counts: Required<Omit<Performance, 'score' | 'measured_at'>>,
): number {
  const { likes, replies, reposts, impressions } = counts;
  return ((3 * likes + 5 * replies + 4 * reposts) / Math.max(impressions, 1)) * 1000;
}

/** X returns at most this many posts of a timeline at once. */
const TIMELINE_PAGE = 100;
/** Bounds the cost of one measurement; the rest follows with the next one. */
const TIMELINE_PAGES = 5;

/**
 * Measures posts that are old enough, once each, from the account's own timeline. Posts that X no longer
 * shows count as deleted.
 */
export async function measurePosts(
  client: Client,
  account: string,
  context: ReadContext,
): Promise<void> {
  const { measureAfterHours } = client.config.workflow;
  const { workflow } = client;
  if (!workflow || measureAfterHours === 0) return;
  const { records } = workflow;
  const now = await records.now();
  let due = await records.list<MadePost>({
    kind: POSTS,
    account,
    states: ['open'],
    until: now - measureAfterHours * HOUR_MS,
    order: 'oldest',
    limit: TIMELINE_PAGE,
  });
  let timeline = await readTimeline(client, account, due, context);
  // More posts than one pass reads: the older ones first, so that every pass makes progress.
  while (!timeline.isComplete && due.length > 1) {
    due = due.slice(0, Math.ceil(due.length / 2));
    timeline = await readTimeline(client, account, due, context);
  }
  const { shown, isComplete } = timeline;
  for (const post of due) {
    const item = shown.get(post.id);
    if (item) {
      const performance = measured(item, now);
      const data = { ...post.data, performance };
      await records.put({ ...post, state: 'measured', data }, post.version);
    } else if (isComplete) {
      await records.put({ ...post, state: 'deleted' }, post.version);
    }
  }
}

/** What the account's timeline shows of the time of these posts. */
async function readTimeline(
  client: Client,
  account: string,
  posts: readonly PackRecord<MadePost>[],
  context: ReadContext,
): Promise<{ readonly shown: ReadonlyMap<string, Post>; readonly isComplete: boolean }> {
  const shown = new Map<string, Post>();
  const [oldest] = posts;
  const newest = posts.at(-1);
  if (!oldest || !newest) return { shown, isComplete: true };
  let paginationToken: string | undefined;
  for (let page = 0; page < TIMELINE_PAGES; page += 1) {
    const { items, nextToken } = await client.provider.getUserPosts(
      {
        id: account.replace(/^x:/, ''),
        maxResults: TIMELINE_PAGE,
        // The journal records a post a moment after X created it.
        startTime: isoSeconds(oldest.at - OVERLAP_MS),
        endTime: isoSeconds(newest.at + OVERLAP_MS),
        paginationToken,
      },
      context,
    );
    for (const item of items) shown.set(item.id, item);
    paginationToken = nextToken;
    if (nextToken === undefined) return { shown, isComplete: true };
  }
  return { shown, isComplete: false };
}

function measured({ public_metrics: metrics = {} }: Post, now: number): Performance {
  const {
    like_count: likes,
    reply_count: replies,
    retweet_count: reposts,
    impression_count: impressions,
  } = metrics;
  const isComplete =
    likes !== undefined &&
    replies !== undefined &&
    reposts !== undefined &&
    impressions !== undefined;
  return {
    measured_at: now,
    ...(likes !== undefined && { likes }),
    ...(replies !== undefined && { replies }),
    ...(reposts !== undefined && { reposts }),
    ...(impressions !== undefined && { impressions }),
    ...(isComplete && { score: performanceScore({ likes, replies, reposts, impressions }) }),
  };
}

const isoSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
