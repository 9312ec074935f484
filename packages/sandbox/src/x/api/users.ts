import type { JsonObject } from '../../json.js';
import { sightOfUser } from '../present/view.js';
import { notFound, suspended } from '../problem/partial.js';
import type { Edge } from '../world/relation.js';
import type { User } from '../world/things.js';
import { userOf, viewOf, type Call, type Handler, type Reply, type XApi } from './call.js';
import { idFrom, listIn, usernameFrom } from './query.js';
import { paged, usersReply } from './replies.js';

type Find = (value: string) => User | undefined;

function lookup(
  api: XApi,
  call: Call,
  parameter: string,
  values: readonly string[],
  find: Find,
  single: boolean,
): Reply {
  const view = viewOf(api, call);
  const users: User[] = [];
  const errors: JsonObject[] = [];
  for (const value of values) {
    const user = find(value);
    const sight = sightOfUser(view, user);
    // A protected user can be looked up; only the posts are kept from strangers.
    if (user && sight !== 'suspended') users.push(user);
    else errors.push((sight === 'suspended' ? suspended : notFoundUser)(parameter, value));
  }
  return usersReply(api, call, users, { errors, single });
}

const notFoundUser = (parameter: string, value: string): JsonObject =>
  notFound('user', parameter, value);

export const me: Handler = (api, call) =>
  lookup(api, call, 'id', [userOf(call)], (id) => api.world.users.get(id), true);

export const user: Handler = (api, call) => {
  const id = idFrom('id', call.param('id'));
  return lookup(api, call, 'id', [id], (value) => api.world.users.get(value), true);
};

export const users: Handler = (api, call) => {
  const ids = listIn(call.query, 'ids', idFrom);
  return lookup(api, call, 'ids', ids, (value) => api.world.users.get(value), false);
};

export const userByUsername: Handler = (api, call) => {
  const username = usernameFrom('username', call.param('username'));
  return lookup(api, call, 'username', [username], api.world.userNamed, true);
};

export const usersByUsernames: Handler = (api, call) => {
  const names = listIn(call.query, 'usernames', usernameFrom);
  return lookup(api, call, 'usernames', names, api.world.userNamed, false);
};

/** The users at one end of edges, in pages. */
export function usersAlong(
  api: XApi,
  call: Call,
  edges: readonly Edge[],
  end: 'from' | 'to',
  max = 100,
): Reply {
  const known = edges.flatMap((edge) => {
    const found = api.world.users.get(edge[end]);
    return found && !found.suspended ? [{ id: edge.id, user: found }] : [];
  });
  const { items, meta } = paged(call, known, { min: 1, max, usual: 100 });
  return usersReply(
    api,
    call,
    items.map((item) => item.user),
    { meta },
  );
}

/** What a route about a user answers if there is no such user. */
export function absentUser(api: XApi, call: Call): Reply | undefined {
  const id = idFrom('id', call.param('id'));
  const found = api.world.users.get(id);
  if (found && !found.suspended) return undefined;
  const error = found ? suspended('id', id) : notFound('user', 'id', id);
  return { body: { errors: [error] } };
}

export const followers: Handler = (api, call) =>
  absentUser(api, call) ??
  usersAlong(api, call, api.world.follows.to(call.param('id')), 'from', 1000);

export const following: Handler = (api, call) =>
  absentUser(api, call) ??
  usersAlong(api, call, api.world.follows.of(call.param('id')), 'to', 1000);
