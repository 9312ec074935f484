import type { PackOperation, PackRecords, PackWorkflow } from '@toolkeel/contract';
import { objectOf, stringOf } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import type { ReadContext } from '../api/provider.js';
import type { Post } from '../model.js';
import type { Author } from './hard-rules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What a post earned, measured once. */
interface Performance {
  readonly measured_at: number;
  readonly likes: number;
  readonly replies: number;
  readonly reposts: number;
  readonly impressions: number;
  /** Interactions per thousand impressions, weighted. */
  readonly score: number;
}

/** A post that this account made, by whichever tool. Recorded under its id, with its author as subject. */
export interface MadePost {
  readonly kind: 'post' | 'reply' | 'quote' | 'thread';
  readonly tool: string;
  readonly operation_id: string;
  readonly text: string;
  /** The tweet that was replied to or quoted, and its author if known. */
  readonly target_id?: string;
  readonly author?: Author;
  /** The topic that compose_tweet was given. */
  readonly topic?: string;
  readonly performance?: Performance;
}

/** `open`: not measured yet. */
type PostState = 'open' | 'measured' | 'deleted';

/** The records of posts; list them with `records.list<MadePost>({ kind: POSTS, account, … })`. */
export const POSTS = 'post';
/** Recorded under their id, with the operation that posts them as subject. */
export const DRAFTS = 'draft';
const AUTHORS = 'author';
const CURSOR = 'sync';

/** Interactions per thousand impressions; replies and reposts count more than likes. */
export function performanceScore(counts: Omit<Performance, 'score' | 'measured_at'>): number {
  const { likes, replies, reposts, impressions } = counts;
  return ((3 * likes + 5 * replies + 4 * reposts) / Math.max(impressions, 1)) * 1000;
}

const KINDS: Readonly<Record<string, MadePost['kind']>> = {
  x_post_tweet: 'post',
  x_reply_to_tweet: 'reply',
  x_quote_tweet: 'quote',
  x_post_thread: 'thread',
};
const DELETE = 'x_delete_tweet';
const TOOLS = [...Object.keys(KINDS), DELETE];
/** An operation may be committed a little later than its time says. */
const OVERLAP_MS = 60_000;
const PAGE = 100;
const MAX_PAGES = 50;

/**
 * Records the posts that the journal shows as executed since the last time: those of every tool and
 * process, also of approved, scheduled and reconciled calls. Safe to repeat and to run concurrently.
 */
export async function syncPosts(
  client: Client,
  account: string,
  context: ReadContext,
): Promise<void> {
  const { workflow } = client;
  if (!workflow) return;
  const { records } = workflow;
  const cursor = await records.get<{ readonly since: number }>(CURSOR, account, POSTS);
  const found = await executedSince(workflow, account, cursor?.data.since ?? 0);
  let last = cursor?.data.since ?? 0;
  for (const operation of found) {
    await recordOperation(client, records, account, operation, context);
    const settled = Date.parse(operation.settled_at ?? operation.created_at);
    last = Math.max(last, settled - OVERLAP_MS);
  }
  if (found.length > 0) {
    await records.put({ kind: CURSOR, account, id: POSTS, at: last, data: { since: last } });
  }
}

/** Oldest first. */
async function executedSince(
  { operations }: Pick<PackWorkflow, 'operations'>,
  account: string,
  settledSince: number,
): Promise<readonly PackOperation[]> {
  const found: PackOperation[] = [];
  const base = { tools: TOOLS, account, limit: PAGE };
  for (const filter of [
    { ...base, states: ['succeeded', 'reconciled'], settledSince },
    // A thread that stopped half way has posted some of its parts.
    { ...base, states: ['claimed', 'unknown'], tools: ['x_post_thread'] },
  ]) {
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const next = await operations.list({ ...filter, ...(before !== undefined && { before }) });
      found.push(...next);
      before = next.at(-1)?.id;
      if (next.length < PAGE) break;
    }
  }
  return found
    .filter(
      ({ outcome, state }) => outcome === 'executed' || state === 'claimed' || state === 'unknown',
    )
    .toSorted((a, b) => timeOf(a) - timeOf(b));
}

const timeOf = ({ settled_at: settled, created_at: created }: PackOperation): number =>
  Date.parse(settled ?? created);

async function recordOperation(
  client: Client,
  records: PackRecords,
  account: string,
  operation: PackOperation,
  context: ReadContext,
): Promise<void> {
  const { tool, arguments: args = {} } = operation;
  if (tool === DELETE) {
    const id = stringOf(args['tweet_id']);
    const post = id === undefined ? undefined : await records.get<MadePost>(POSTS, account, id);
    if (post && post.state !== 'deleted') {
      await records.put({ ...post, state: 'deleted' }, post.version);
    }
    return;
  }
  const kind = KINDS[tool];
  const made = postsIn(operation);
  if (!kind || made.length === 0) return;
  const targetId = stringOf(args['in_reply_to_id'] ?? args['quoted_tweet_id']);
  const author =
    targetId === undefined
      ? undefined
      : await authorOf(client, account, targetId, context).catch(() => undefined);
  const at = timeOf(operation);
  const topic = await topicOf(records, account, operation.id);
  for (const { id, text } of made) {
    await records.put<MadePost>(
      {
        kind: POSTS,
        account,
        id,
        at,
        state: 'open' satisfies PostState,
        ...(author && { subject: author.id }),
        data: {
          kind,
          tool,
          operation_id: operation.id,
          text,
          ...(targetId !== undefined && { target_id: targetId }),
          ...(author && { author }),
          ...(topic !== undefined && { topic }),
        },
        expiresAt: at + client.config.workflow.historyDays * DAY_MS,
      },
      // What is recorded already may have been measured.
      0,
    );
  }
}

/** The topic of the draft that the operation posted. */
async function topicOf(
  records: PackRecords,
  account: string,
  operationId: string,
): Promise<string | undefined> {
  const query = { kind: DRAFTS, account, subject: operationId, limit: 1 };
  const [draft] = await records.list<{ readonly topic?: string }>(query);
  return draft?.data.topic;
}

/** The ids and texts of the posts that an operation made. */
export function postsIn(
  operation: Pick<PackOperation, 'answer' | 'arguments'>,
): readonly { readonly id: string; readonly text: string }[] {
  const data = objectOf(operation.answer?.data);
  const args = operation.arguments ?? {};
  const parts = Array.isArray(data?.['tweets']) ? data['tweets'] : data?.['posted'];
  const texts = Array.isArray(args['tweets']) ? args['tweets'] : [args['text']];
  const found = Array.isArray(parts) ? parts : [data];
  return found.flatMap((part, index) => {
    const id = stringOf(objectOf(part)?.['id']);
    // As written: X adds mentions to a reply.
    const text = stringOf(texts[index]) ?? stringOf(objectOf(part)?.['text']) ?? '';
    return id === undefined ? [] : [{ id, text }];
  });
}

const AUTHOR_KEPT_MS = 90 * DAY_MS;

/** The author of a tweet, from the records or from X. Rejects if X cannot tell. */
export async function authorOf(
  client: Client,
  account: string,
  tweetId: string,
  context: ReadContext,
): Promise<Author> {
  const records = client.workflow?.records;
  const known = await records?.get<Author>(AUTHORS, account, tweetId);
  if (known) return known.data;
  const { item } = await client.provider.getPost({ id: tweetId }, context);
  const author = authorIn(item);
  if (!author) throw new TypeError(`X returned the tweet ${tweetId} without its author`);
  if (records) await rememberAuthor(records, account, tweetId, author);
  return author;
}

function authorIn({ author_id: id, author_username: username }: Post): Author | undefined {
  return id === undefined ? undefined : { id, ...(username !== undefined && { username }) };
}

/** Saves a request when a tweet that was found before is replied to. */
export async function rememberAuthor(
  records: PackRecords,
  account: string,
  tweetId: string,
  author: Author,
): Promise<void> {
  const at = await records.now();
  const expiresAt = at + AUTHOR_KEPT_MS;
  await records.put({ kind: AUTHORS, account, id: tweetId, at, data: author, expiresAt });
}

/** How many replies this author has received from the account within the window. */
export async function repliesTo(
  client: Client,
  account: string,
  authorId: string,
  windowMs: number,
  context: ReadContext,
): Promise<number> {
  await syncPosts(client, account, context);
  const { records } = client.workflow!;
  const since = (await records.now()) - windowMs;
  const made = await records.list<MadePost>({ kind: POSTS, account, subject: authorId, since });
  return made.filter(({ data }) => data.kind === 'reply').length;
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
  const due = await records.list<MadePost>({
    kind: POSTS,
    account,
    states: ['open'],
    until: now - measureAfterHours * HOUR_MS,
    order: 'oldest',
    limit: TIMELINE_PAGE,
  });
  const [oldest] = due;
  const newest = due.at(-1);
  if (!oldest || !newest) return;
  const shown = new Map<string, Post>();
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
    if (nextToken === undefined) break;
  }
  for (const post of due) {
    const item = shown.get(post.id);
    if (item) {
      const performance = measured(item, now);
      const data = { ...post.data, performance };
      await records.put({ ...post, state: 'measured', data }, post.version);
    } else if (paginationToken === undefined) {
      await records.put({ ...post, state: 'deleted' }, post.version);
    }
  }
}

function measured({ public_metrics: metrics = {} }: Post, now: number): Performance {
  const counts = {
    likes: metrics['like_count'] ?? 0,
    replies: metrics['reply_count'] ?? 0,
    reposts: metrics['retweet_count'] ?? 0,
    impressions: metrics['impression_count'] ?? 0,
  };
  return { measured_at: now, ...counts, score: performanceScore(counts) };
}

const isoSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
