import {
  FaultError,
  upstream,
  withResilience,
  type Clock,
  type KernelEvent,
  type RateLimitInfo,
  type ResiliencePolicy,
  type Upstream,
} from '@toolkeel/kernel';
import { classify } from '@toolkeel/pack-kit';
import type { List, PartialError, Post, User } from '../model.js';
import { readRoutes } from './routes.js';

export interface ReadContext {
  readonly signal: AbortSignal;
  /** Milliseconds on the clock of `performance.now()`; Infinity for none. */
  readonly deadline: number;
  readonly correlationId: string;
  readonly noteRetry?: (() => void) | undefined;
  /** Receives the rate limits that the upstream reports. */
  readonly reportLimits?: ((limits: readonly RateLimitInfo[]) => void) | undefined;
}

export interface ItemResult<T> {
  readonly item: T;
  readonly partialErrors: readonly PartialError[];
  readonly limits: readonly RateLimitInfo[];
}

export interface PageResult<T> {
  readonly items: readonly T[];
  readonly nextToken: string | undefined;
  readonly partialErrors: readonly PartialError[];
  readonly limits: readonly RateLimitInfo[];
}

export interface PageQuery {
  readonly maxResults: number;
  readonly paginationToken?: string | undefined;
}

export interface PostRange {
  readonly sinceId?: string | undefined;
  readonly untilId?: string | undefined;
  readonly startTime?: string | undefined;
  readonly endTime?: string | undefined;
}

export interface ById {
  readonly id: string;
}

export interface SearchQuery extends PostRange {
  readonly query: string;
  readonly sortOrder?: 'recency' | 'relevancy' | undefined;
}

export interface UserPostsQuery extends ById, PostRange {
  readonly exclude?: readonly ('replies' | 'retweets')[] | undefined;
}

export type ReadMethod<Query, Result> = (query: Query, context: ReadContext) => Promise<Result>;

type GetOne<Query, T> = ReadMethod<Query, ItemResult<T>>;
type GetPage<Query, T> = ReadMethod<Query & PageQuery, PageResult<T>>;

/** A source of posts, users and lists. Methods throw a `FaultError` on failure. */
export interface SocialReadProvider {
  readonly getPost: GetOne<ById, Post>;
  readonly searchPosts: GetPage<SearchQuery, Post>;
  readonly getMe: GetOne<undefined, User>;
  readonly getUserByUsername: GetOne<{ readonly username: string }, User>;
  readonly getUserById: GetOne<ById, User>;
  readonly getUsersByIds: ReadMethod<{ readonly ids: readonly string[] }, PageResult<User>>;
  readonly getUserPosts: GetPage<UserPostsQuery, Post>;
  readonly getUserMentions: GetPage<ById & PostRange, Post>;
  readonly getHomeTimeline: GetPage<ById & PostRange, Post>;
  readonly getFollowers: GetPage<ById, User>;
  readonly getFollowing: GetPage<ById, User>;
  readonly getLikedPosts: GetPage<ById, Post>;
  readonly getLikingUsers: GetPage<ById, User>;
  readonly getBookmarks: GetPage<ById, Post>;
  readonly getList: GetOne<ById, List>;
  readonly getListPosts: GetPage<ById, Post>;
  readonly getListMembers: GetPage<ById, User>;
  readonly getOwnedLists: GetPage<ById, List>;
  readonly getListMemberships: GetPage<ById, List>;
}

export type ReadName = keyof SocialReadProvider;

export interface RetryingOptions {
  readonly policy: ResiliencePolicy;
  /** Shared with all other requests to the same host. */
  readonly upstream?: Upstream;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly observe?: (event: KernelEvent) => void;
  /** The key of the rate limit that a method counts against. Default: the method name. */
  readonly routeOf?: (method: ReadName) => string;
  /** Renews the credential after a 401; the call is then retried once. */
  readonly renew?: (method: ReadName, signal: AbortSignal) => Promise<void>;
}

/**
 * Wraps a provider with retries of network and server faults. Rate-limit rejections are surfaced at once,
 * with the time to wait.
 */
export function retrying(
  provider: SocialReadProvider,
  options: RetryingOptions,
): SocialReadProvider {
  const shared = options.upstream ?? upstream('social', options.policy);
  const methods = Object.keys(readRoutes).map((key) => {
    const name = key as ReadName;
    // Called on the provider, whose methods may be those of a class.
    const method = (query: unknown, context: ReadContext): Promise<unknown> =>
      (provider[name] as ReadMethod<unknown, unknown>)(query, context);
    return [name, withRetries(name, method, shared, options)] as const;
  });
  return Object.fromEntries(methods) as unknown as SocialReadProvider;
}

interface Read {
  readonly query: unknown;
  readonly context: ReadContext;
}

function withRetries(
  name: ReadName,
  method: ReadMethod<unknown, unknown>,
  shared: Upstream,
  options: RetryingOptions,
): ReadMethod<unknown, unknown> {
  const { policy, clock, random, observe, renew } = options;
  const send = withResilience(
    ({ query, context }: Read, attempt) => {
      if (attempt.index > 0) context.noteRetry?.();
      const { signal, deadline, correlationId } = attempt;
      const reportLimits: ReadContext['reportLimits'] = (limits) => attempt.reportLimits(limits);
      return method(query, { signal, deadline, correlationId, reportLimits });
    },
    policy,
    {
      name,
      effect: 'read',
      upstream: shared,
      classify,
      ...(clock && { clock }),
      ...(random && { random }),
      ...(observe && { listener: observe }),
      ...(renew && { refreshAuth: (signal) => renew(name, signal) }),
    },
  );
  return async (query, context) => {
    const { signal, deadline, correlationId } = context;
    // Resolved for each call: another login counts against other limits.
    const route = options.routeOf?.(name) ?? name;
    const outcome = await send.outcome(
      { query, context },
      { signal, deadline, correlationId, route },
    );
    if (outcome.ok) return outcome.value;
    throw new FaultError(outcome.fault);
  };
}
