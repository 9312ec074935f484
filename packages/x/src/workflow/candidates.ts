import {
  raise,
  raisedToolError,
  toolError,
  type PackRecord,
  type PackRecords,
} from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { CallContext } from '@toolkeel/pack-kit';
import type { Post } from '../model.js';
import { oneLine } from '../text/strings.js';
import { openWorkflow, type WorkflowCall } from './access.js';
import { isBlocked } from './hard-rules.js';
import { POSTS, rememberAuthor, syncPosts, type MadePost } from './history.js';
import { opportunityOf, scoreTweet, type PostFacts } from './score.js';

/** A tweet that a search found. It keeps facts, because a score changes with time. */
export interface Candidate extends PostFacts {
  readonly authorId?: string;
  readonly authorUsername?: string;
}

const CANDIDATES = 'discovered';
const DAY_MS = 86_400_000;
const CANDIDATE_KEPT_MS = 14 * DAY_MS;
/** The most records that one call reads. */
const MAX_READ = 1_000;
/** Enough for any ordinary tweet; long ones would fill the records. */
const MAX_TEXT = 4_000;

/** The account's own posts, synchronised with the journal, newest first; `deleted`: those too. */
export async function ownPosts(
  client: Client,
  { records, account }: WorkflowCall,
  call: CallContext,
  { deleted = false, ...filter }: { readonly since?: number; readonly deleted?: boolean } = {},
): Promise<readonly PackRecord<MadePost>[]> {
  await syncPosts(client, account, call);
  const made = await records.list<MadePost>({ kind: POSTS, account, limit: MAX_READ, ...filter });
  return made.filter(({ state }) => deleted || state !== 'deleted');
}

/** Facts of a post for its score. */
function factsOf(post: Post): Candidate {
  const { public_metrics: metrics = {}, created_at: createdAt, author_followers: followers } = post;
  const at = createdAt === undefined ? NaN : Date.parse(createdAt);
  return {
    text: oneLine(post.text, MAX_TEXT),
    authorFollowers: followers,
    likes: metrics['like_count'],
    retweets: metrics['retweet_count'],
    replies: metrics['reply_count'],
    createdAt: Number.isNaN(at) ? undefined : at,
    hasMedia: (post.media ?? []).length > 0,
    isQuote: (post.referenced_tweets ?? []).some(({ type }) => type === 'quoted'),
    ...(post.author_id !== undefined && { authorId: post.author_id }),
    ...(post.author_username !== undefined && { authorUsername: post.author_username }),
  };
}

/** Posts that a reply makes sense for: by others, and not merely repeated. */
export function isOpen(client: Client, account: string, post: Post): boolean {
  const { author_id: authorId, author_username: username } = post;
  const isRepost = (post.referenced_tweets ?? []).some(({ type }) => type === 'retweeted');
  if (authorId === undefined || isRepost || account === `x:${authorId}`) return false;
  return !isBlocked({ id: authorId, username }, client.config.workflow);
}

export async function rememberCandidates(
  { records, account }: WorkflowCall,
  posts: readonly Post[],
): Promise<readonly PackRecord<Candidate>[]> {
  const at = await records.now();
  const stored: PackRecord<Candidate>[] = [];
  for (const post of posts) {
    const data = factsOf(post);
    const { authorId, authorUsername } = data;
    const record = await records.put<Candidate>({
      kind: CANDIDATES,
      account,
      id: post.id,
      at,
      ...(authorId !== undefined && { subject: authorId }),
      data,
      expiresAt: at + CANDIDATE_KEPT_MS,
    });
    if (record) stored.push(record);
    if (authorId !== undefined) {
      const author = { id: authorId, ...(authorUsername && { username: authorUsername }) };
      await rememberAuthor(records, account, post.id, author);
    }
  }
  return stored;
}

export const listCandidates = (
  { records, account }: { readonly records: PackRecords; readonly account: string },
  filter: { readonly subject?: string } = {},
): Promise<readonly PackRecord<Candidate>[]> =>
  records.list<Candidate>({ kind: CANDIDATES, account, limit: MAX_READ, ...filter });

/** Candidates whose author was not added to the block list since they were found. */
export async function openCandidates(
  client: Client,
  workflow: WorkflowCall,
): Promise<readonly PackRecord<Candidate>[]> {
  const { workflow: config } = client.config;
  return (await listCandidates(workflow)).filter(
    ({ data: { authorId = '', authorUsername: username } }) =>
      !isBlocked({ id: authorId, username }, config),
  );
}

export const findCandidate = (
  { records, account }: WorkflowCall,
  tweetId: string,
): Promise<PackRecord<Candidate> | undefined> =>
  records.get<Candidate>(CANDIDATES, account, tweetId);

/** The candidates that reach a score now, as tools return them: best first. */
export function rank(
  client: Client,
  found: readonly PackRecord<Candidate>[],
  repliedTo: ReadonlySet<string>,
  { minScore, limit }: { readonly minScore: number; readonly limit: number },
) {
  const { keywords, minScore: threshold } = client.config.workflow;
  const now = client.clock.wallNow();
  return found
    .map((record) => {
      const { data } = record;
      const scored = scoreTweet(data, { keywords, now });
      return {
        tweet_id: record.id,
        ...(data.authorUsername !== undefined && { author_username: data.authorUsername }),
        text: oneLine(data.text, SHOWN_TEXT),
        ...(data.createdAt !== undefined && { created_at: new Date(data.createdAt).toISOString() }),
        found_at: new Date(record.at).toISOString(),
        score: scored.total,
        action: opportunityOf(scored, threshold),
        replied: repliedTo.has(record.id),
        matched_keywords: scored.matchedKeywords,
        factors: scored.factors,
      };
    })
    .filter(({ score }) => score >= minScore)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit);
}

/** Twenty of them stay inside the response budget. */
const SHOWN_TEXT = 400;

/** The tweets that this account has replied to. */
export const repliedTweets = (posts: readonly PackRecord<MadePost>[]): ReadonlySet<string> =>
  new Set(
    posts.flatMap(({ data }) =>
      data.kind === 'reply' && data.target_id !== undefined ? [data.target_id] : [],
    ),
  );

type ContextCode = 'context_error' | 'recommendation_error' | 'topic_error';

/** Opens the workflow and runs a read. A failure of the database gets the code of the tool. */
export async function withContext<T>(
  client: Client,
  call: CallContext,
  code: ContextCode,
  what: string,
  run: (workflow: WorkflowCall) => Promise<T>,
): Promise<T> {
  try {
    return await run(await openWorkflow(client, call));
  } catch (cause) {
    const error = raisedToolError(cause);
    if (error?.input.code !== 'db_error') throw cause;
    return raise(toolError(code, `${what} could not be read. ${error.input.message}`));
  }
}
