import type { Absence, OpenAct, Reconciliation } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { PartialError, Post } from '../model.js';
import type { PostRange, ReadContext } from '../api/provider.js';
import type { XConfig } from '../config.js';
import { fitToBudget } from '../text/strings.js';
import { claimsOf, couldBecome, type Claims, type CompetingPost } from './claims.js';
import type { Draft } from './draft.js';
import { matchesDraft } from './match.js';
import { pollUntilFound } from './poll-until-found.js';

export interface Posted {
  readonly id: string;
  readonly text: string;
  readonly partial_errors?: readonly PartialError[];
}

/** X's timestamps are whole seconds, and its clock is estimated from responses. */
const SKEW_MS = 5_000;
/** For ids with milliseconds; the remaining error is that of X's clock, which is known in seconds. */
const EXACT_SKEW_MS = 2_000;
/** A post created later than this belongs to another request. */
const LATEST_MS = 120_000;
/** Widens the query, because the estimate of X's clock may be old. The posts are then compared exactly. */
const MARGIN_MS = 300_000;
/** X shows a post at most this long after its creation. */
const SETTLED_MS = 60_000;
const MAX_PAGES = 3;
/** How much later a post can be that proves the absence of an earlier one. */
const DAY_MS = 86_400_000;

/** Whether not finding a post proves its absence: only if the operator has configured a time. */
export function absenceOf({ reconcile }: Pick<XConfig, 'reconcile'>): Absence {
  if (!reconcile) return { authoritative: false };
  const actsWithinMs = reconcile.authoritativeAfterSecs * 1000;
  return { authoritative: true, actsWithinMs, confirmAfterMs: SETTLED_MS };
}

/** Reads the post of an operation back, with the login of the account that sent it. */
export async function readBackOf(
  client: Client,
  draft: Draft,
  { account, sentAt, others }: OpenAct & { readonly account: string },
  call: ReadContext,
): Promise<Reconciliation<Posted>> {
  if (!(await client.account.isOwn(account, call))) return { found: 'unknown' };
  return readBack(client, draft, sentAt, call, () => claimsOf(others));
}

/**
 * Searches the account's timeline for a post with an unknown outcome. X may show it late, so the search is
 * repeated for a while. `absent` is proof only with `evidence`, which requires that the operator has opted in
 * and that the timeline shows all posts since the send, and a newer one.
 */
export function readBack(
  client: Client,
  draft: Draft,
  sentAt: number,
  call: ReadContext,
  claims: () => Promise<Claims>,
): Promise<Reconciliation<Posted>> {
  const { clock, config } = client;
  const isOld = clock.wallNow() - sentAt > SETTLED_MS;
  const { authoritative, actsWithinMs = 0 } = absenceOf(config);
  const reachMs = Math.max(LATEST_MS, actsWithinMs);
  const newerMs = Math.min(LATEST_MS, actsWithinMs) + SKEW_MS;
  const search: Search = {
    draft,
    range: () => rangeAround(client, sentAt, authoritative ? reachMs + DAY_MS : LATEST_MS),
    isOnTime: (post) => isCreatedWithin(client, sentAt, post, LATEST_MS),
    competes: ({ openSince }) => Math.abs(openSince - sentAt) <= LATEST_MS,
    ...(authoritative && {
      mayBeLate: (post) => !isCreatedOutside(client, sentAt, post, reachMs),
      isNewer: (post) => createdAfterMs(client, sentAt, post).ms > newerMs,
    }),
  };
  return findPost(client, search, call, claims, isOld ? 0 : client.readBackMs);
}

/** Searches for a reply to a post of the same operation. It cannot be older than that post. */
export function findReply(
  client: Client,
  draft: Draft & { readonly replyTo: string },
  call: ReadContext,
  claims: () => Promise<Claims>,
): Promise<Reconciliation<Posted>> {
  const search: Search = {
    draft,
    range: () => ({ sinceId: draft.replyTo }),
    isOnTime: () => true,
    competes: () => true,
  };
  return findPost(client, search, call, claims, client.readBackMs);
}

/** The draft to search for, and when its post can have been created. */
interface Search {
  readonly draft: Draft;
  readonly range: () => PostRange;
  readonly isOnTime: (post: Post) => boolean;
  readonly competes: (rival: CompetingPost) => boolean;
  /** Set together with `isNewer` to prove absence. Whether X may have created the post late. */
  readonly mayBeLate?: (post: Post) => boolean;
  /** Whether the post is newer than the request can have created in the usual time. */
  readonly isNewer?: (post: Post) => boolean;
}

/** The account's posts in a time range. */
interface Timeline {
  readonly posts: readonly Post[];
  /** False if X has more posts than were read, or left some out. */
  readonly isComplete: boolean;
}

function findPost(
  client: Client,
  search: Search,
  call: ReadContext,
  claims: () => Promise<Claims>,
  watchMs: number,
): Promise<Reconciliation<Posted>> {
  const { draft, isOnTime, mayBeLate } = search;
  const until = Math.min(call.deadline, client.clock.now() + watchMs);
  return pollUntilFound(client.clock, call.signal, until, async () => {
    const seen = await readTimeline(client, search, call);
    const equal = seen.posts.filter(
      (post) => (isOnTime(post) || mayBeLate?.(post)) && matchesDraft(draft, post),
    );
    const known = equal.length === 0 ? NO_CLAIMS : await claims();
    const found = attribute(equal.filter(isOnTime), search, known);
    if (found.found !== 'absent' || !search.isNewer) return found;
    const isLate = equal.some(({ id }) => !known.owned.has(id));
    const evidence =
      isLate || !seen.isComplete ? undefined : evidenceIn(seen.posts, search.isNewer);
    return evidence ? { found: 'absent', evidence } : { found: 'unknown' };
  });
}

const NO_CLAIMS: Claims = { owned: new Set(), competing: [] };

/** The newest post, if it is newer than the searched post can be. */
function evidenceIn(posts: readonly Post[], isNewer: (post: Post) => boolean) {
  const [newest] = posts.filter(isNewer).toSorted((a, b) => timeOf(b) - timeOf(a));
  return (
    newest && {
      newest_post_id: newest.id,
      newest_post_at: new Date(timeOf(newest)).toISOString(),
      posts_seen: posts.length,
    }
  );
}

/**
 * Ignores the posts of other operations. A post that another unknown operation may have created, or one of
 * several equal posts, cannot be attributed.
 */
function attribute(
  seen: readonly Post[],
  { competes }: Search,
  { owned, competing }: Claims,
): Reconciliation<Posted> {
  const [post, ...more] = seen.filter(({ id }) => !owned.has(id));
  if (!post) return { found: 'absent' };
  const isContested = competing.some((rival) => competes(rival) && couldBecome(rival, post));
  return more.length > 0 || isContested ? { found: 'unknown' } : executed(post);
}

/** The newest post that equals the draft, regardless of its age. */
export async function findEqual(
  client: Client,
  draft: Draft,
  call: ReadContext,
): Promise<Posted | undefined> {
  return newestOf(client, call, (post) => matchesDraft(draft, post));
}

/** The newest post with the same text, in reply to any post or none. */
export async function findSameText(
  client: Client,
  draft: Draft,
  call: ReadContext,
): Promise<Posted | undefined> {
  return newestOf(client, call, (post) => {
    const replyTo = post.referenced_tweets?.find(({ type }) => type === 'replied_to')?.id;
    return matchesDraft({ ...draft, replyTo }, post);
  });
}

async function newestOf(
  client: Client,
  call: ReadContext,
  matches: (post: Post) => boolean,
): Promise<Posted | undefined> {
  const id = await client.account.userId(call);
  const page = await client.provider.getUserPosts({ id, maxResults: 100 }, call);
  const found = page.items.find(matches);
  return found && { id: found.id, text: found.text };
}

const executed = ({ id, text }: Post): Reconciliation<Posted> => ({
  found: 'executed',
  data: fitToBudget([{ id, text }])[0]!,
});

async function readTimeline(client: Client, search: Search, call: ReadContext): Promise<Timeline> {
  const range = search.range();
  const seen = await readPages(client, range, call);
  // The first response may have corrected the estimate of X's clock.
  return hasShifted(range, search.range()) ? readPages(client, search.range(), call) : seen;
}

function hasShifted(asked: PostRange, now: PostRange): boolean {
  const startOf = ({ startTime = '' }: PostRange): number => Date.parse(startTime);
  return Math.abs(startOf(asked) - startOf(now)) > MARGIN_MS / 2;
}

async function readPages(client: Client, range: PostRange, call: ReadContext): Promise<Timeline> {
  const id = await client.account.userId(call);
  const asked = { id, ...range, maxResults: 100 };
  const posts = new Map<string, Post>();
  let isComplete = true;
  let paginationToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { ...asked, paginationToken };
    const { items, nextToken, partialErrors } = await client.provider.getUserPosts(query, call);
    for (const post of items) posts.set(post.id, post);
    if (partialErrors.length > 0) isComplete = false;
    paginationToken = nextToken;
    if (nextToken === undefined) break;
  }
  return { posts: [...posts.values()], isComplete: isComplete && paginationToken === undefined };
}

/** The time range of the query, on X's clock. */
function rangeAround({ session, clock }: Client, sentAt: number, laterMs: number): PostRange {
  const { upstreamNow } = session;
  const sent = sentAt + upstreamNow - clock.wallNow();
  const end = sent + laterMs + MARGIN_MS;
  return {
    startTime: secondOf(sent - MARGIN_MS),
    // X rejects an end in the future.
    ...(end < upstreamNow - SETTLED_MS && { endTime: secondOf(end) }),
  };
}

/** Whether the request can have created the post in the usual time. */
function isCreatedWithin(client: Client, sentAt: number, post: Post, latestMs: number): boolean {
  const { ms, skewMs } = createdAfterMs(client, sentAt, post);
  return ms >= -skewMs && ms <= latestMs;
}

/** Whether the request cannot have created the post. False for a post without a timestamp. */
function isCreatedOutside(client: Client, sentAt: number, post: Post, latestMs: number): boolean {
  const { ms, skewMs } = createdAfterMs(client, sentAt, post);
  return ms < -skewMs || ms > latestMs + skewMs;
}

/** How long after the send the post was created, on X's clock, and the possible error. */
function createdAfterMs({ session, clock }: Client, sentAt: number, post: Post) {
  const ahead = session.upstreamNow - clock.wallNow();
  const exact = timeOfId(post.id);
  const made = timeOf(post);
  return { ms: made - (sentAt + ahead), skewMs: made === exact ? EXACT_SKEW_MS : SKEW_MS };
}

/** When X created a post, from its id if that has milliseconds. */
function timeOf({ id, created_at: at }: Post): number {
  const shown = Date.parse(at ?? '');
  const exact = timeOfId(id);
  // Ids in another format contain no time.
  return Math.abs(exact - shown) <= 1_000 ? exact : shown;
}

const X_EPOCH_MS = 1_288_834_974_657;

/** X's ids start with their creation time in milliseconds. */
function timeOfId(id: string): number {
  return /^\d{1,19}$/.test(id) ? Number(BigInt(id) >> 22n) + X_EPOCH_MS : Number.NaN;
}

function secondOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
