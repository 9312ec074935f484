import { postsIn, postAccess, userAccess } from '../present/view.js';
import { invalid, notAuthorized } from '../problems.js';
import type { Edge } from '../world/world.js';
import { compareIds, type Post, referenceOf, snowflakeAt } from '../world/records.js';
import { type Call, type Handler, ownId, type Reply, viewOf } from './call.js';
import { idIn, instantIn, periodIn, type Range, wordsIn } from './input.js';
import { userNotFound } from './lookups.js';
import { paginate, postsReply } from './replies.js';
import { parseQuery } from '../search.js';

const isReply = (post: Post): boolean => referenceOf(post, 'replied_to') !== undefined;
const isRepost = (post: Post): boolean => referenceOf(post, 'retweeted') !== undefined;

function excluded(call: Call): (post: Post) => boolean {
  const words = wordsIn(call.query, 'exclude', ['replies', 'retweets']);
  return (post) =>
    (words.includes('replies') && isReply(post)) || (words.includes('retweets') && isRepost(post));
}

/** The maximum number of posts in a timeline. */
const TIMELINE_LIMITS = { user: 3200, mentions: 800 };

function timeline(
  call: Call,
  wanted: (post: Post) => boolean,
  range: Range,
  most = Infinity,
): Reply {
  const inPeriod = periodIn(call.query);
  const isExcluded = excluded(call);
  const found = [...postsIn(viewOf(call), wanted)]
    .slice(0, most)
    .filter((post) => inPeriod(post) && !isExcluded(post));
  const { items, meta } = paginate(call, found, range, true);
  return postsReply(call, items, { meta });
}

export const userPosts: Handler = (call) => {
  const unavailable = userNotFound(call);
  if (unavailable) return unavailable;
  const id = call.param('id');
  if (userAccess(viewOf(call), call.world.users.get(id)) === 'protected')
    return { body: { errors: [notAuthorized('user', 'id', id)] } };
  const range = { min: 5, max: 100, fallback: 10 };
  return timeline(call, ({ authorId }) => authorId === id, range, TIMELINE_LIMITS.user);
};

export const mentions: Handler = (call) => {
  const unavailable = userNotFound(call);
  if (unavailable) return unavailable;
  const id = call.param('id');
  const names = ({ entities }: Post): boolean =>
    entities.mentions?.some((mention) => mention.id === id) ?? false;
  const range = { min: 5, max: 100, fallback: 10 };
  return timeline(call, (post) => names(post) && !isRepost(post), range, TIMELINE_LIMITS.mentions);
};

export const home: Handler = (call) => {
  const id = ownId(call);
  const followed = new Set(call.world.follows.of(id).map(({ to }) => to));
  const wanted = ({ authorId }: Post): boolean => authorId === id || followed.has(authorId);
  return timeline(call, wanted, { min: 1, max: 100, fallback: 100 });
};

/** A page of the posts at the end of edges, in the order of the edges. */
function postsAlong(call: Call, edges: readonly Edge[], range: Range): Reply {
  const view = viewOf(call);
  const marked = edges.flatMap((edge) => {
    const post = call.world.posts.get(edge.to);
    return post && postAccess(view, post) === 'visible' ? [{ id: edge.id, post }] : [];
  });
  const { items, meta } = paginate(call, marked, range);
  return postsReply(
    call,
    items.map(({ post }) => post),
    { meta },
  );
}

export const likedPosts: Handler = (call) =>
  userNotFound(call) ??
  postsAlong(call, call.world.likes.of(call.param('id')), { min: 5, max: 100, fallback: 100 });

export const bookmarks: Handler = (call) =>
  postsAlong(call, call.world.bookmarks.of(ownId(call)), { min: 1, max: 100, fallback: 100 });

export const listPosts = (call: Call, members: ReadonlySet<string>): Reply =>
  timeline(call, ({ authorId }) => members.has(authorId), { min: 1, max: 100, fallback: 100 });

const RECENT = 7 * 24 * 60 * 60_000;

/** Rejects searches that go back more than seven days. */
function checkRecent({ query }: Call, now: number): void {
  const earliest = now - RECENT;
  const bound = `${new Date(earliest).toISOString().slice(0, 16)}Z`;
  const start = instantIn(query, 'start_time');
  if (start !== undefined && start < earliest)
    throw invalid(
      `Invalid 'start_time':'${query.get('start_time') ?? ''}'. 'start_time' must be on or after ${bound}`,
      { start_time: [query.get('start_time') ?? ''] },
    );
  const since = idIn(query, 'since_id');
  const oldest = snowflakeAt(earliest);
  if (since !== undefined && compareIds(since, oldest) < 0)
    throw invalid(
      `'since_id' must be a tweet id created after ${bound}. Please use a 'since_id' that is larger than ${oldest}`,
      { since_id: [since] },
    );
}

function queryText({ query, tier }: Call): string {
  const text = query.get('query') ?? '';
  const longest = tier() === 'enterprise' ? 4096 : 512;
  if (text.trim() === '')
    throw invalid('The `query` query parameter can not be empty', { query: [text] });
  if (text.length > longest)
    throw invalid(
      `Rule length is longer than maximum rule length. Rule length: ${text.length}. Maximum rule length: ${longest}.`,
      { query: [text] },
    );
  return text;
}

export const search: Handler = (call) => {
  const now = call.world.clock.now();
  checkRecent(call, now);
  const matches = parseQuery(queryText(call), call.world);
  const inPeriod = periodIn(call.query);
  wordsIn(call.query, 'sort_order', ['recency', 'relevancy']);
  const found = [
    ...postsIn(
      viewOf(call),
      (post) => post.createdAt > now - RECENT && inPeriod(post) && matches(post),
    ),
  ];
  const range = { min: 10, max: 100, fallback: 10 };
  const { items, meta } = paginate(call, found, range, true);
  return postsReply(call, items, { meta });
};
