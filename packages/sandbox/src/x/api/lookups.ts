import type { JsonObject } from '../../json.js';
import { postAccess, userAccess } from '../present/view.js';
import { notAuthorized, notFound, suspended } from '../problems.js';
import type { Edge } from '../world/world.js';
import type { Post, User } from '../world/records.js';
import { type Call, type Handler, type Reply, userOf, viewOf } from './call.js';
import { idFrom, listIn, usernameFrom } from './input.js';
import { paginate, postsReply, usersReply } from './replies.js';

type Find = (value: string) => User | undefined;

function lookUpUsers(
  call: Call,
  parameter: string,
  values: readonly string[],
  find: Find,
  single: boolean,
): Reply {
  const view = viewOf(call);
  const users: User[] = [];
  const errors: JsonObject[] = [];
  for (const value of values) {
    const user = find(value);
    const access = userAccess(view, user);
    // Protected users can be looked up; only their posts are hidden.
    if (user && access !== 'suspended') users.push(user);
    else errors.push((access === 'suspended' ? suspended : notFoundUser)(parameter, value));
  }
  return usersReply(call, users, { errors, single });
}

const notFoundUser = (parameter: string, value: string): JsonObject =>
  notFound('user', parameter, value);

export const me: Handler = (call) =>
  lookUpUsers(call, 'id', [userOf(call)], (id) => call.world.users.get(id), true);

export const user: Handler = (call) => {
  const id = idFrom('id', call.param('id'));
  return lookUpUsers(call, 'id', [id], (value) => call.world.users.get(value), true);
};

export const users: Handler = (call) => {
  const ids = listIn(call.query, 'ids', idFrom);
  return lookUpUsers(call, 'ids', ids, (value) => call.world.users.get(value), false);
};

export const userByUsername: Handler = (call) => {
  const username = usernameFrom('username', call.param('username'));
  return lookUpUsers(call, 'username', [username], call.world.userNamed, true);
};

/** A page of the users at one end of edges. */
export function usersAlong(
  call: Call,
  edges: readonly Edge[],
  end: 'from' | 'to',
  max = 100,
): Reply {
  const known = edges.flatMap((edge) => {
    const found = call.world.users.get(edge[end]);
    return found && !found.suspended ? [{ id: edge.id, user: found }] : [];
  });
  const { items, meta } = paginate(call, known, { min: 1, max, fallback: 100 });
  return usersReply(
    call,
    items.map((item) => item.user),
    { meta },
  );
}

/** The reply of a route about a user who is missing or suspended. */
export function userNotFound(call: Call): Reply | undefined {
  const id = idFrom('id', call.param('id'));
  const found = call.world.users.get(id);
  if (found && !found.suspended) return undefined;
  const error = found ? suspended('id', id) : notFound('user', 'id', id);
  return { body: { errors: [error] } };
}

export const followers: Handler = (call) =>
  userNotFound(call) ?? usersAlong(call, call.world.follows.to(call.param('id')), 'from', 1000);

export const following: Handler = (call) =>
  userNotFound(call) ?? usersAlong(call, call.world.follows.of(call.param('id')), 'to', 1000);

function lookUpPosts(call: Call, parameter: 'id' | 'ids', ids: readonly string[]): Reply {
  const view = viewOf(call);
  const posts: Post[] = [];
  const errors: JsonObject[] = [];
  for (const id of ids) {
    const post = call.world.posts.get(id);
    const access = postAccess(view, post);
    if (post && access === 'visible') posts.push(post);
    else errors.push((access === 'protected' ? notAuthorized : notFound)('tweet', parameter, id));
  }
  return postsReply(call, posts, { errors, single: parameter === 'id' });
}

export const post: Handler = (call) => lookUpPosts(call, 'id', [idFrom('id', call.param('id'))]);

export const posts: Handler = (call) => lookUpPosts(call, 'ids', listIn(call.query, 'ids', idFrom));

/** The reply of a route about a post that is not visible. */
function postUnavailable(call: Call): Reply | undefined {
  const id = idFrom('id', call.param('id'));
  const access = postAccess(viewOf(call), call.world.posts.get(id));
  if (access === 'visible') return undefined;
  const error = access === 'protected' ? notAuthorized : notFound;
  return { body: { errors: [error('tweet', 'id', id)] } };
}

export const likingUsers: Handler = (call) =>
  postUnavailable(call) ?? usersAlong(call, call.world.likes.to(call.param('id')), 'from');
