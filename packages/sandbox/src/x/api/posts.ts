import type { JsonObject } from '../../json.js';
import { sightOfPost } from '../present/view.js';
import { notAuthorized, notFound } from '../problem/partial.js';
import type { Post } from '../world/things.js';
import { viewOf, type Call, type Handler, type Reply, type XApi } from './call.js';
import { idFrom, listIn } from './query.js';
import { postsReply } from './replies.js';
import { usersAlong } from './users.js';

function lookup(api: XApi, call: Call, parameter: 'id' | 'ids', ids: readonly string[]): Reply {
  const view = viewOf(api, call);
  const posts: Post[] = [];
  const errors: JsonObject[] = [];
  for (const id of ids) {
    const post = api.world.posts.get(id);
    const sight = sightOfPost(view, post);
    if (post && sight === 'visible') posts.push(post);
    else errors.push((sight === 'protected' ? notAuthorized : notFound)('tweet', parameter, id));
  }
  return postsReply(api, call, posts, { errors, single: parameter === 'id', parameter });
}

export const post: Handler = (api, call) =>
  lookup(api, call, 'id', [idFrom('id', call.param('id'))]);

export const posts: Handler = (api, call) =>
  lookup(api, call, 'ids', listIn(call.query, 'ids', idFrom));

/** What a route about a post answers if it cannot be seen. */
export function absentPost(api: XApi, call: Call): Reply | undefined {
  const id = idFrom('id', call.param('id'));
  const sight = sightOfPost(viewOf(api, call), api.world.posts.get(id));
  if (sight === 'visible') return undefined;
  const error = sight === 'protected' ? notAuthorized : notFound;
  return { body: { errors: [error('tweet', 'id', id)] } };
}

export const likingUsers: Handler = (api, call) =>
  absentPost(api, call) ?? usersAlong(api, call, api.world.likes.to(call.param('id')), 'from');

export const reposters: Handler = (api, call) =>
  absentPost(api, call) ?? usersAlong(api, call, api.world.retweets.to(call.param('id')), 'from');
