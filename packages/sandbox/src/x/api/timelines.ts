import { postsIn, sightOfPost, sightOfUser } from '../present/view.js';
import { notAuthorized } from '../problem/partial.js';
import type { Edge } from '../world/relation.js';
import { referenceOf, type Post } from '../world/things.js';
import { ownId, viewOf, type Call, type Handler, type Reply, type XApi } from './call.js';
import { periodIn } from './period.js';
import { absentPost } from './posts.js';
import { wordsIn, type Range } from './query.js';
import { paged, postsReply } from './replies.js';
import { absentUser } from './users.js';

const isReply = (post: Post): boolean => referenceOf(post, 'replied_to') !== undefined;
const isRepost = (post: Post): boolean => referenceOf(post, 'retweeted') !== undefined;

function excluded(call: Call): (post: Post) => boolean {
  const words = wordsIn(call.query, 'exclude', ['replies', 'retweets']);
  return (post) =>
    (words.includes('replies') && isReply(post)) || (words.includes('retweets') && isRepost(post));
}

/** How far back a timeline goes. */
const MOST = { user: 3200, mentions: 800 };

function timeline(
  api: XApi,
  call: Call,
  wanted: (post: Post) => boolean,
  range: Range,
  most = Infinity,
): Reply {
  const inPeriod = periodIn(call.query);
  const isExcluded = excluded(call);
  const found = [...postsIn(viewOf(api, call), wanted)]
    .slice(0, most)
    .filter((post) => inPeriod(post) && !isExcluded(post));
  const { items, meta } = paged(call, found, range, { withIds: true });
  return postsReply(api, call, items, { meta });
}

export const userPosts: Handler = (api, call) => {
  const absent = absentUser(api, call);
  if (absent) return absent;
  const id = call.param('id');
  if (sightOfUser(viewOf(api, call), api.world.users.get(id)) === 'protected')
    return { body: { errors: [notAuthorized('user', 'id', id)] } };
  const range = { min: 5, max: 100, usual: 10 };
  return timeline(api, call, ({ authorId }) => authorId === id, range, MOST.user);
};

export const mentions: Handler = (api, call) => {
  const absent = absentUser(api, call);
  if (absent) return absent;
  const id = call.param('id');
  const names = ({ entities }: Post): boolean =>
    entities.mentions?.some((mention) => mention.id === id) ?? false;
  const range = { min: 5, max: 100, usual: 10 };
  return timeline(api, call, (post) => names(post) && !isRepost(post), range, MOST.mentions);
};

export const home: Handler = (api, call) => {
  const id = ownId(call);
  const followed = new Set(api.world.follows.of(id).map(({ to }) => to));
  const wanted = ({ authorId }: Post): boolean => authorId === id || followed.has(authorId);
  return timeline(api, call, wanted, { min: 1, max: 100, usual: 100 });
};

/** The posts at the end of edges: in the order in which they were marked, not written. */
function postsAlong(api: XApi, call: Call, edges: readonly Edge[], range: Range): Reply {
  const view = viewOf(api, call);
  const marked = edges.flatMap((edge) => {
    const post = api.world.posts.get(edge.to);
    return post && sightOfPost(view, post) === 'visible' ? [{ id: edge.id, post }] : [];
  });
  const { items, meta } = paged(call, marked, range);
  return postsReply(
    api,
    call,
    items.map(({ post }) => post),
    { meta },
  );
}

export const likedPosts: Handler = (api, call) =>
  absentUser(api, call) ??
  postsAlong(api, call, api.world.likes.of(call.param('id')), { min: 5, max: 100, usual: 100 });

export const bookmarks: Handler = (api, call) =>
  postsAlong(api, call, api.world.bookmarks.of(ownId(call)), { min: 1, max: 100, usual: 100 });

function about(type: 'quoted' | 'retweeted', range: Range): Handler {
  return (api, call) => {
    const absent = absentPost(api, call);
    if (absent) return absent;
    const id = call.param('id');
    return timeline(api, call, (post) => referenceOf(post, type) === id, range);
  };
}

export const quotes = about('quoted', { min: 10, max: 100, usual: 10 });
export const reposts = about('retweeted', { min: 1, max: 100, usual: 100 });

export const listPosts = (api: XApi, call: Call, members: ReadonlySet<string>): Reply =>
  timeline(api, call, ({ authorId }) => members.has(authorId), { min: 1, max: 100, usual: 100 });
