import type { RateLimitInfo } from '@toolkeel/kernel';
import type { List, PartialError, Post, User } from './model.js';

/** What a reading call brings along. */
export interface ReadContext {
  readonly signal: AbortSignal;
  /** Milliseconds on the clock of `performance.now()`; Infinity where there is none. */
  readonly deadline: number;
  readonly correlationId: string;
  readonly noteRetry?: (() => void) | undefined;
  /** Told what the upstream said about its limits, by a provider that learns it. */
  readonly reportLimits?: ((limits: readonly RateLimitInfo[]) => void) | undefined;
}

export interface Found<T> {
  readonly item: T;
  readonly partialErrors: readonly PartialError[];
  readonly limits: readonly RateLimitInfo[];
}

export interface Page<T> {
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

export type ReadMethod<Query, Result> = (query: Query, context: ReadContext) => Promise<Result>;

type GetPost<Query> = ReadMethod<Query, Found<Post>>;
type GetUser<Query> = ReadMethod<Query, Found<User>>;
type ListPosts<Query> = ReadMethod<Query & PageQuery, Page<Post>>;
type ListUsers<Query> = ReadMethod<Query & PageQuery, Page<User>>;

export interface SearchQuery extends PostRange {
  readonly query: string;
  readonly sortOrder?: 'recency' | 'relevancy' | undefined;
}

export interface UserPostsQuery extends ById, PostRange {
  readonly exclude?: readonly ('replies' | 'retweets')[] | undefined;
}

/** Where posts, users and lists come from. A failure is thrown as a `FaultError` of the kernel. */
export interface SocialReadProvider {
  readonly getPost: GetPost<ById>;
  readonly searchPosts: ListPosts<SearchQuery>;
  readonly getMe: GetUser<undefined>;
  readonly getUserByUsername: GetUser<{ readonly username: string }>;
  readonly getUserById: GetUser<ById>;
  readonly getUsersByIds: ReadMethod<{ readonly ids: readonly string[] }, Page<User>>;
  readonly getUserPosts: ListPosts<UserPostsQuery>;
  readonly getUserMentions: ListPosts<ById & PostRange>;
  readonly getHomeTimeline: ListPosts<ById & PostRange>;
  readonly getFollowers: ListUsers<ById>;
  readonly getFollowing: ListUsers<ById>;
  readonly getLikedPosts: ListPosts<ById>;
  readonly getLikingUsers: ListUsers<ById>;
  readonly getBookmarks: ListPosts<ById>;
  readonly getList: ReadMethod<ById, Found<List>>;
  readonly getListPosts: ListPosts<ById>;
  readonly getListMembers: ListUsers<ById>;
  readonly getOwnedLists: ReadMethod<ById & PageQuery, Page<List>>;
  readonly getListMemberships: ReadMethod<ById & PageQuery, Page<List>>;
}

export type ReadName = keyof SocialReadProvider;

/** Every way to read, by name. */
export const readNames = Object.freeze(
  Object.keys({
    getPost: 0,
    searchPosts: 0,
    getMe: 0,
    getUserByUsername: 0,
    getUserById: 0,
    getUsersByIds: 0,
    getUserPosts: 0,
    getUserMentions: 0,
    getHomeTimeline: 0,
    getFollowers: 0,
    getFollowing: 0,
    getLikedPosts: 0,
    getLikingUsers: 0,
    getBookmarks: 0,
    getList: 0,
    getListPosts: 0,
    getListMembers: 0,
    getOwnedLists: 0,
    getListMemberships: 0,
  } satisfies Record<ReadName, 0>),
) as readonly ReadName[];
