import type { Absence, OpenAct, Reconciliation } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { XConfig } from '../config.js';
import type { PartialError, Post } from '../provider/model.js';
import type { PostRange, ReadContext } from '../provider/provider.js';
import { claimsOf, mayBeOf, type Claims, type Rival } from './claims.js';
import type { Draft } from './draft.js';
import { fitting } from './fitting.js';
import { isPostOf } from './match.js';
import { watch } from './watch.js';

export interface Posted {
  readonly id: string;
  readonly text: string;
  readonly partial_errors?: readonly PartialError[];
}

/** X's times are whole seconds, its clock is only known from its answers, and a journal has its own. */
const SKEW_MS = 5_000;
/** Where a post's id says the millisecond; what is left is that X tells its clock in seconds. */
const EXACT_SKEW_MS = 2_000;
/** A post that came to be later than this was made by somebody else. */
const LATEST_MS = 120_000;
/** For asking: what X's clock is taken for may be old. What is found is then compared exactly. */
const MARGIN_MS = 300_000;
/** After this long a post that X has is shown by X. */
const SETTLED_MS = 60_000;
const MAX_WATCH_MS = 8_000;
const MAX_PAGES = 3;
/** How much later a post may be that shows that X has gone on. */
const A_DAY_MS = 86_400_000;

/** What it means that a post is not found: nothing, unless the operator has said after which time. */
export function absenceOf({ reconcile }: Pick<XConfig, 'reconcile'>): Absence {
  if (!reconcile) return { authoritative: false };
  const actsWithinMs = reconcile.authoritativeAfterSecs * 1000;
  return { authoritative: true, actsWithinMs, confirmAfterMs: SETTLED_MS };
}

/** Reads the post of an operation back, for the account that made it: another one may not see it. */
export async function readBackOf(
  client: Client,
  draft: Draft,
  { account, sentAt, others }: OpenAct & { readonly account: string },
  scope: ReadContext,
): Promise<Reconciliation<Posted>> {
  if (!(await client.account.isOwn(account, scope))) return { found: 'unknown' };
  return readBack(client, draft, sentAt, scope, () => claimsOf(others));
}

/**
 * Looks for a post with an unknown outcome among our own posts, as X would show it. X may show it late,
 * so the look is repeated for a while. `absent` is proof only with `evidence`, which is given where the
 * operator has opted in and the timeline shows all posts since the send, and a newer one.
 */
export function readBack(
  client: Client,
  draft: Draft,
  sentAt: number,
  scope: ReadContext,
  claims: () => Promise<Claims>,
): Promise<Reconciliation<Posted>> {
  const { clock, config } = client;
  const isOld = clock.wallNow() - sentAt > SETTLED_MS;
  const { authoritative, actsWithinMs = 0 } = absenceOf(config);
  const reachMs = Math.max(LATEST_MS, actsWithinMs);
  const newerMs = Math.min(LATEST_MS, actsWithinMs) + SKEW_MS;
  const search: Search = {
    draft,
    range: () => rangeAround(client, sentAt, authoritative ? reachMs + A_DAY_MS : LATEST_MS),
    isInTime: (post) => isMadeWithin(client, sentAt, post, LATEST_MS),
    mayRival: ({ openSince }) => Math.abs(openSince - sentAt) <= LATEST_MS,
    ...(authoritative && {
      mayBeLate: (post) => !isMadeOutside(client, sentAt, post, reachMs),
      isNewer: (post) => madeAfterMs(client, sentAt, post).ms > newerMs,
    }),
  };
  return find(client, search, scope, claims, isOld ? 0 : MAX_WATCH_MS);
}

/**
 * Looks for a reply to a post that we have just made: whatever was sent by whom and when, it is not
 * older than that.
 */
export function findReply(
  client: Client,
  draft: Draft & { readonly replyTo: string },
  scope: ReadContext,
  claims: () => Promise<Claims>,
): Promise<Reconciliation<Posted>> {
  const search: Search = {
    draft,
    range: () => ({ sinceId: draft.replyTo }),
    isInTime: () => true,
    mayRival: () => true,
  };
  return find(client, search, scope, claims, MAX_WATCH_MS);
}

/** What is looked for, and when it can have been made. */
interface Search {
  readonly draft: Draft;
  readonly range: () => PostRange;
  readonly isInTime: (post: Post) => boolean;
  readonly mayRival: (rival: Rival) => boolean;
  /** With both of these absence can be proven. Whether X may have made it late: */
  readonly mayBeLate?: (post: Post) => boolean;
  /** Whether it was made after the request can have acted in the ordinary way. */
  readonly isNewer?: (post: Post) => boolean;
}

/** Our own posts of a time. */
interface Seen {
  readonly posts: readonly Post[];
  /** False where X has more of them than were read, or left some out. */
  readonly isWhole: boolean;
}

function find(
  client: Client,
  search: Search,
  scope: ReadContext,
  claims: () => Promise<Claims>,
  watchMs: number,
): Promise<Reconciliation<Posted>> {
  const { draft, isInTime, mayBeLate } = search;
  const until = Math.min(scope.deadline, client.clock.now() + watchMs);
  return watch(client.clock, scope.signal, until, async () => {
    const seen = await look(client, search, scope);
    const equal = seen.posts.filter(
      (post) => (isInTime(post) || mayBeLate?.(post)) && isPostOf(draft, post),
    );
    const known = equal.length === 0 ? NO_CLAIMS : await claims();
    const found = ours(equal.filter(isInTime), search, known);
    if (found.found !== 'absent' || !search.isNewer) return found;
    const isLate = equal.some(({ id }) => !known.owned.has(id));
    const evidence = isLate || !seen.isWhole ? undefined : evidenceIn(seen.posts, search.isNewer);
    return evidence ? { found: 'absent', evidence } : { found: 'unknown' };
  });
}

const NO_CLAIMS: Claims = { owned: new Set(), rivals: [] };

/** The newest post that X shows, where it is newer than the one that is looked for would be. */
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
 * Leaves out what another operation made. What another may have made is not ours before that is known,
 * and of two that look alike one may be somebody else's doing.
 */
function ours(
  seen: readonly Post[],
  { mayRival }: Search,
  { owned, rivals }: Claims,
): Reconciliation<Posted> {
  const [post, ...more] = seen.filter(({ id }) => !owned.has(id));
  if (!post) return { found: 'absent' };
  const isContested = rivals.some((rival) => mayRival(rival) && mayBeOf(rival, post));
  return more.length > 0 || isContested ? { found: 'unknown' } : executed(post);
}

/** The newest of our posts that says the same, whenever it was made. */
export async function findEqual(
  client: Client,
  draft: Draft,
  scope: ReadContext,
): Promise<Posted | undefined> {
  return newestOf(client, scope, (post) => isPostOf(draft, post));
}

/** The newest of our posts with the same words, wherever it stands. */
export async function findWords(
  client: Client,
  draft: Draft,
  scope: ReadContext,
): Promise<Posted | undefined> {
  return newestOf(client, scope, (post) => {
    const replyTo = post.referenced_tweets?.find(({ type }) => type === 'replied_to')?.id;
    return isPostOf({ ...draft, replyTo }, post);
  });
}

async function newestOf(
  client: Client,
  scope: ReadContext,
  isIt: (post: Post) => boolean,
): Promise<Posted | undefined> {
  const id = await client.account.userId(scope);
  const page = await client.provider.getUserPosts({ id, maxResults: 100 }, scope);
  const found = page.items.find(isIt);
  return found && { id: found.id, text: found.text };
}

const executed = ({ id, text }: Post): Reconciliation<Posted> => ({
  found: 'executed',
  data: fitting([{ id, text }])[0]!,
});

async function look(client: Client, search: Search, scope: ReadContext): Promise<Seen> {
  const range = search.range();
  const seen = await pagesOf(client, range, scope);
  // X's clock is known from its answers, and this may have been the first one.
  return isMoved(range, search.range()) ? pagesOf(client, search.range(), scope) : seen;
}

function isMoved(asked: PostRange, now: PostRange): boolean {
  const startOf = ({ startTime = '' }: PostRange): number => Date.parse(startTime);
  return Math.abs(startOf(asked) - startOf(now)) > MARGIN_MS / 2;
}

async function pagesOf(client: Client, range: PostRange, scope: ReadContext): Promise<Seen> {
  const id = await client.account.userId(scope);
  const asked = { id, ...range, maxResults: 100 };
  const posts = new Map<string, Post>();
  let isWhole = true;
  let paginationToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { ...asked, paginationToken };
    const { items, nextToken, partialErrors } = await client.provider.getUserPosts(query, scope);
    for (const post of items) posts.set(post.id, post);
    if (partialErrors.length > 0) isWhole = false;
    paginationToken = nextToken;
    if (nextToken === undefined) break;
  }
  return { posts: [...posts.values()], isWhole: isWhole && paginationToken === undefined };
}

/** On X's clock: by one that is wrong X would be asked for another time. */
function rangeAround({ session, clock }: Client, sentAt: number, laterMs: number): PostRange {
  const { upstreamNow } = session;
  const sent = sentAt + upstreamNow - clock.wallNow();
  const end = sent + laterMs + MARGIN_MS;
  return {
    startTime: secondOf(sent - MARGIN_MS),
    // X refuses an end that is not past.
    ...(end < upstreamNow - SETTLED_MS && { endTime: secondOf(end) }),
  };
}

/** Whether a post was made when ours would have been, on X's clock. */
function isMadeWithin(client: Client, sentAt: number, post: Post, latestMs: number): boolean {
  const { ms, skewMs } = madeAfterMs(client, sentAt, post);
  return ms >= -skewMs && ms <= latestMs;
}

/** Whether it surely was not; of a post without a time that is not known. */
function isMadeOutside(client: Client, sentAt: number, post: Post, latestMs: number): boolean {
  const { ms, skewMs } = madeAfterMs(client, sentAt, post);
  return ms < -skewMs || ms > latestMs + skewMs;
}

/** How long after the send a post was made, on X's clock, and how wrong that may be. */
function madeAfterMs({ session, clock }: Client, sentAt: number, post: Post) {
  const ahead = session.upstreamNow - clock.wallNow();
  const exact = timeOfId(post.id);
  const made = timeOf(post);
  return { ms: made - (sentAt + ahead), skewMs: made === exact ? EXACT_SKEW_MS : SKEW_MS };
}

/** When X made a post; by its id where that tells the millisecond. */
function timeOf({ id, created_at: at }: Post): number {
  const shown = Date.parse(at ?? '');
  const exact = timeOfId(id);
  // Other ids than X's own say nothing about the time.
  return Math.abs(exact - shown) <= 1_000 ? exact : shown;
}

const X_EPOCH_MS = 1_288_834_974_657;

/** X's ids begin with the millisecond in which they were made. */
function timeOfId(id: string): number {
  return /^\d{1,19}$/.test(id) ? Number(BigInt(id) >> 22n) + X_EPOCH_MS : Number.NaN;
}

function secondOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
