import type { PackOperation, PackRecord, PackRecords, PackWorkflow } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { objectOf, stringOf } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import type { ReadContext } from '../api/provider.js';
import type { Post } from '../model.js';
import type { Author } from './hard-rules.js';

const DAY_MS = 86_400_000;

/** What a post earned, measured once. Absent: X did not return it, which is not zero. */
export interface Performance {
  readonly measured_at: number;
  readonly likes?: number;
  readonly replies?: number;
  readonly reposts?: number;
  readonly impressions?: number;
  /** Interactions per thousand impressions, weighted. Only if all four are known. */
  readonly score?: number;
}

/** A post that this account made, by whichever tool. Recorded under its id, with its author as subject. */
export interface MadePost {
  readonly kind: 'post' | 'reply' | 'quote' | 'thread';
  readonly tool: string;
  readonly operation_id: string;
  readonly text: string;
  /** The tweet that was replied to or quoted, and its author; null if X no longer shows the tweet. */
  readonly target_id?: string;
  readonly author?: Author | null;
  /** The topic that compose_tweet was given. */
  readonly topic?: string;
  readonly performance?: Performance;
}

/** `open`: not measured yet. `unnamed`: an operator recorded the post without its id. */
type PostState = 'open' | 'measured' | 'deleted' | 'unnamed';

/** The records of posts; list them with `records.list<MadePost>({ kind: POSTS, account, … })`. */
export const POSTS = 'post';
/** Recorded under their id, with the operation that posts them as subject. */
export const DRAFTS = 'draft';
const AUTHORS = 'author';
const CURSOR = 'sync';

const KINDS: Readonly<Record<string, MadePost['kind']>> = {
  x_post_tweet: 'post',
  x_reply_to_tweet: 'reply',
  x_quote_tweet: 'quote',
  x_post_thread: 'thread',
};
const DELETE = 'x_delete_tweet';
const TOOLS = [...Object.keys(KINDS), DELETE];
/** An operation may be committed a little later than its time says. */
export const OVERLAP_MS = 60_000;
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
  const named = postsIn(operation);
  const isUnnamed = named.length === 0 && operation.outcome === 'executed';
  const made: { readonly id: string; readonly text: string }[] = [];
  for (const post of isUnnamed ? [{ id: operation.id, text: summaryOf(args) }] : named) {
    // What is recorded already may have been measured.
    if (!(await records.get(POSTS, account, post.id))) made.push(post);
  }
  if (!kind || made.length === 0) return;
  const targetId = stringOf(args['in_reply_to_id'] ?? args['quoted_tweet_id']);
  // Looked up again when it matters, if X fails now.
  const author =
    targetId === undefined
      ? undefined
      : await findAuthor(client, account, targetId, context).catch(() => undefined);
  const at = timeOf(operation);
  const topic = await topicOf(records, account, operation.id);
  for (const { id, text } of made) {
    await records.put<MadePost>(
      {
        kind: POSTS,
        account,
        id,
        at,
        state: (isUnnamed ? 'unnamed' : 'open') satisfies PostState,
        ...(author && { subject: author.id }),
        data: {
          kind,
          tool,
          operation_id: operation.id,
          text,
          ...(targetId !== undefined && { target_id: targetId }),
          ...(author !== undefined && { author }),
          ...(topic !== undefined && { topic }),
        },
        expiresAt: at + client.config.workflow.historyDays * DAY_MS,
      },
      0,
    );
  }
}

const summaryOf = ({ text, tweets }: Readonly<Record<string, unknown>>): string =>
  Array.isArray(tweets) ? tweets.map(String).join('\n') : (stringOf(text) ?? '');

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
async function authorOf(
  client: Client,
  account: string,
  tweetId: string,
  context: ReadContext,
): Promise<Author> {
  const records = client.workflow?.records;
  const known = await records?.get<Author>(AUTHORS, account, tweetId);
  // Without a name a block list of names cannot be checked.
  if (known?.data.username !== undefined) return known.data;
  const { item } = await client.provider.getPost({ id: tweetId }, context);
  const original = item.referenced_tweets?.find(({ type }) => type === 'retweeted');
  // A reply to a repost is one to the tweet itself.
  if (original) return authorOf(client, account, original.id, context);
  const author = authorIn(item);
  if (!author) throw new TypeError(`X returned the tweet ${tweetId} without its author`);
  if (records) await rememberAuthor(records, account, tweetId, author);
  return author;
}

/** Null if X does not show the tweet any more. */
export async function findAuthor(
  ...[client, account, tweetId, context]: Parameters<typeof authorOf>
): Promise<Author | null> {
  try {
    return await authorOf(client, account, tweetId, context);
  } catch (cause) {
    if (cause instanceof FaultError && cause.fault.status === 404) return null;
    throw cause;
  }
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
  if (author.username === undefined) return;
  const at = await records.now();
  const expiresAt = at + AUTHOR_KEPT_MS;
  await records.put({ kind: AUTHORS, account, id: tweetId, at, data: author, expiresAt });
}

/**
 * The replies of the account within the window, also those that were deleted since. Rejects if X cannot
 * tell whom one of them answered.
 */
export async function repliesSince(
  client: Client,
  account: string,
  windowMs: number,
  context: ReadContext,
): Promise<readonly PackRecord<MadePost>[]> {
  await syncPosts(client, account, context);
  const { records } = client.workflow!;
  const since = (await records.now()) - windowMs;
  const made: PackRecord<MadePost>[] = [];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const last = made.at(-1);
    const query = { kind: POSTS, account, since, limit: MAX_RECORDS };
    const next = await records.list<MadePost>({ ...query, ...(last && { after: last }) });
    made.push(...next);
    if (next.length < MAX_RECORDS) break;
  }
  const replies: PackRecord<MadePost>[] = [];
  for (const reply of made.filter(({ data }) => data.kind === 'reply')) {
    const { target_id: targetId, author: known } = reply.data;
    if (known !== undefined || targetId === undefined) {
      replies.push(reply);
      continue;
    }
    const author = await findAuthor(client, account, targetId, context);
    const found = {
      ...reply,
      ...(author && { subject: author.id }),
      data: { ...reply.data, author },
    };
    await records.put(found, reply.version);
    replies.push(found);
  }
  return replies;
}

/** The most that one list returns. */
const MAX_RECORDS = 1000;
