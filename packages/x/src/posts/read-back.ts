import type { Reconciliation } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { PartialError, Post } from '../provider/model.js';
import type { PostRange } from '../provider/provider.js';
import type { Scope } from '../scope.js';
import { mayBeOf, type Claims, type Rival } from './claims.js';
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

/**
 * Looks whether a post that nobody knows the end of is there: among our own, as it would be shown.
 * X may show it late, so it is looked for a while. Not finding it proves nothing.
 */
export function readBack(
  client: Client,
  draft: Draft,
  sentAt: number,
  scope: Scope,
  claims: () => Promise<Claims>,
): Promise<Reconciliation<Posted>> {
  const { clock } = client;
  const isOld = clock.wallNow() - sentAt > SETTLED_MS;
  const search: Search = {
    draft,
    range: () => rangeAround(client, sentAt),
    isInTime: (post) => isMadeAbout(client, sentAt, post),
    mayRival: ({ openSince }) => Math.abs(openSince - sentAt) <= LATEST_MS,
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
  scope: Scope,
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
}

function find(
  client: Client,
  search: Search,
  scope: Scope,
  claims: () => Promise<Claims>,
  watchMs: number,
): Promise<Reconciliation<Posted>> {
  const until = Math.min(scope.deadline, client.clock.now() + watchMs);
  return watch(client.clock, scope.signal, until, async () => {
    const seen = await look(client, search, scope);
    return seen.length === 0 ? { found: 'absent' } : ours(seen, search, await claims());
  });
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
  scope: Scope,
): Promise<Posted | undefined> {
  return newestOf(client, scope, (post) => isPostOf(draft, post));
}

/** The newest of our posts with the same words, wherever it stands. */
export async function findWords(
  client: Client,
  draft: Draft,
  scope: Scope,
): Promise<Posted | undefined> {
  return newestOf(client, scope, (post) => {
    const replyTo = post.referenced_tweets?.find(({ type }) => type === 'replied_to')?.id;
    return isPostOf({ ...draft, replyTo }, post);
  });
}

async function newestOf(
  client: Client,
  scope: Scope,
  isIt: (post: Post) => boolean,
): Promise<Posted | undefined> {
  const { id } = await client.me(scope);
  const page = await client.provider.getUserPosts({ id, maxResults: 100 }, scope);
  const found = page.items.find(isIt);
  return found && { id: found.id, text: found.text };
}

const executed = ({ id, text }: Post): Reconciliation<Posted> => ({
  found: 'executed',
  data: fitting([{ id, text }])[0]!,
});

async function look(
  client: Client,
  { draft, range, isInTime }: Search,
  scope: Scope,
): Promise<readonly Post[]> {
  const { id } = await client.me(scope);
  const asked = { id, ...range(), maxResults: 100 };
  const found: Post[] = [];
  let paginationToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { ...asked, paginationToken };
    const { items, nextToken } = await client.provider.getUserPosts(query, scope);
    found.push(...items.filter((post) => isInTime(post) && isPostOf(draft, post)));
    paginationToken = nextToken;
    if (nextToken === undefined) break;
  }
  return [...new Map(found.map((post) => [post.id, post])).values()];
}

/** On X's clock: by one that is wrong X would be asked for another time. */
function rangeAround({ session, clock }: Client, sentAt: number): PostRange {
  const { upstreamNow } = session;
  const sent = sentAt + upstreamNow - clock.wallNow();
  const end = sent + LATEST_MS + MARGIN_MS;
  return {
    startTime: secondOf(sent - MARGIN_MS),
    // X refuses an end that is not past.
    ...(end < upstreamNow - SETTLED_MS && { endTime: secondOf(end) }),
  };
}

/** Whether a post was made when ours would have been, on X's clock. */
function isMadeAbout({ session, clock }: Client, sentAt: number, post: Post): boolean {
  const ahead = session.upstreamNow - clock.wallNow();
  const shown = Date.parse(post.created_at ?? '');
  const exact = timeOfId(post.id);
  // Other ids than X's own say nothing about the time.
  const isExact = Math.abs(exact - shown) <= 1_000;
  const made = (isExact ? exact : shown) - (sentAt + ahead);
  return made >= (isExact ? -EXACT_SKEW_MS : -SKEW_MS) && made <= LATEST_MS;
}

const X_EPOCH_MS = 1_288_834_974_657;

/** X's ids begin with the millisecond in which they were made. */
function timeOfId(id: string): number {
  return /^\d{1,19}$/.test(id) ? Number(BigInt(id) >> 22n) + X_EPOCH_MS : Number.NaN;
}

function secondOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
