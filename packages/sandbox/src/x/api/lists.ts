import type { JsonObject } from '../../json.js';
import { presentList, presentUser } from '../present/records.js';
import { forbidden, missing, notFound } from '../problems.js';
import type { Edge } from '../world/world.js';
import type { List } from '../world/records.js';
import {
  type Call,
  commit,
  type Handler,
  ownId,
  type Reply,
  shapeOf,
  userOf,
  viewOf,
  type XApi,
} from './call.js';
import { bodyIn, idFrom, idSchema } from './input.js';
import { paginate } from './replies.js';
import { listPosts as postsOfMembers } from './timelines.js';
import { userNotFound, usersAlong } from './lookups.js';
import * as z from 'zod';

/** A private list is visible only to its owner. */
function visibleList(api: XApi, call: Call, id: string): List | undefined {
  const list = api.world.lists.get(id);
  if (!list || !api.world.visibility.shows(list)) return undefined;
  return list.private && list.ownerId !== userOf(call) ? undefined : list;
}

function listsReply(
  api: XApi,
  call: Call,
  lists: readonly List[],
  rest: { readonly single: true } | { readonly meta: JsonObject },
): Reply {
  const [view, shape] = [viewOf(api, call), shapeOf(call, 'list')];
  const owners = shape.expansions.has('owner_id')
    ? [...new Set(lists.map(({ ownerId }) => ownerId))].flatMap(
        (id) => api.world.users.get(id) ?? [],
      )
    : [];
  const data = lists.map((one) => presentList(one, view, shape));
  return {
    body: {
      ...(data.length > 0 && { data: 'single' in rest ? data[0] : data }),
      ...(owners.length > 0 && {
        includes: { users: owners.map((owner) => presentUser(owner, view, shape)) },
      }),
      ...('meta' in rest && { meta: rest.meta }),
    },
  };
}

const notThere = (id: string): Reply => ({ body: { errors: [notFound('list', 'id', id)] } });

function listNotFound(api: XApi, call: Call): Reply | undefined {
  const id = idFrom('id', call.param('id'));
  return visibleList(api, call, id) ? undefined : notThere(id);
}

export const list: Handler = (api, call) => {
  const id = idFrom('id', call.param('id'));
  const found = visibleList(api, call, id);
  return found ? listsReply(api, call, [found], { single: true }) : notThere(id);
};

export const listMembers: Handler = (api, call) =>
  listNotFound(api, call) ?? usersAlong(api, call, api.world.members.of(call.param('id')), 'to');

export const listPosts: Handler = (api, call) => {
  const members = api.world.members.of(call.param('id')).map(({ to }) => to);
  return listNotFound(api, call) ?? postsOfMembers(api, call, new Set(members));
};

function pageOfLists(api: XApi, call: Call, lists: readonly { id: string; list: List }[]): Reply {
  const { items, meta } = paginate(call, lists, { min: 1, max: 100, fallback: 100 });
  return listsReply(
    api,
    call,
    items.map((item) => item.list),
    { meta },
  );
}

function listsAlong(api: XApi, call: Call, edges: readonly Edge[], end: 'from' | 'to'): Reply {
  const found = edges.flatMap((edge) => {
    const one = visibleList(api, call, edge[end]);
    return one ? [{ id: edge.id, list: one }] : [];
  });
  return pageOfLists(api, call, found);
}

export const ownedLists: Handler = (api, call) => {
  const unavailable = userNotFound(api, call);
  if (unavailable) return unavailable;
  const owned = [...api.world.lists.values()]
    .filter(({ id, ownerId }) => ownerId === call.param('id') && visibleList(api, call, id))
    .map((one) => ({ id: one.id, list: one }))
    .toReversed();
  return pageOfLists(api, call, owned);
};

export const listMemberships: Handler = (api, call) =>
  userNotFound(api, call) ?? listsAlong(api, call, api.world.members.to(call.param('id')), 'from');

export const followedLists: Handler = (api, call) =>
  userNotFound(api, call) ??
  listsAlong(api, call, api.world.followedLists.of(call.param('id')), 'to');

export const pinnedLists: Handler = (api, call) =>
  listsAlong(api, call, api.world.pinnedLists.of(ownId(call)), 'to');

const name = z.string().min(1).max(25);
const description = z.string().max(100);
const createSchema = z.strictObject({
  name,
  description: z.exactOptional(description),
  private: z.exactOptional(z.boolean()),
});
const updateSchema = createSchema.partial();
const memberSchema = z.strictObject({ user_id: idSchema });

function ownList(api: XApi, call: Call): List {
  const id = idFrom('id', call.param('id'));
  const found = api.world.lists.get(id);
  if (!found || found.deleted) throw missing('list', 'id', id);
  if (found.ownerId !== userOf(call)) throw forbidden('You are not allowed to edit this list.');
  return found;
}

export const createList: Handler = async (api, call) => {
  const given = await bodyIn(call.request, createSchema);
  const created = api.world.visibility.commitTime();
  const id = api.world.newId();
  api.world.lists.set(id, {
    id,
    ownerId: userOf(call),
    createdAt: created.at,
    created,
    name: given.name,
    description: given.description ?? '',
    private: given.private ?? false,
  });
  commit(api, call, { kind: 'list.created', id });
  return { status: 201, body: { data: { id, name: given.name } } };
};

export const updateList: Handler = async (api, call) => {
  const found = ownList(api, call);
  const given = await bodyIn(call.request, updateSchema);
  Object.assign(found, given);
  commit(api, call, { kind: 'list.updated', id: found.id });
  return { body: { data: { updated: true } } };
};

export const deleteList: Handler = (api, call) => {
  const found = ownList(api, call);
  found.deleted = api.world.visibility.commitTime();
  commit(api, call, { kind: 'list.deleted', id: found.id });
  return { body: { data: { deleted: true } } };
};

export const addMember: Handler = async (api, call) => {
  const { id } = ownList(api, call);
  const { user_id: user } = await bodyIn(call.request, memberSchema);
  if (!api.world.users.has(user)) throw missing('user', 'user_id', user);
  if (!api.world.members.holds(id, user)) {
    api.world.members.add(id, user, api.world.newId(), api.world.visibility.commitTime());
    commit(api, call, { kind: 'member.added', list: id, user });
  }
  return { body: { data: { is_member: true } } };
};

export const removeMember: Handler = (api, call) => {
  const { id } = ownList(api, call);
  const user = idFrom('user_id', call.param('user'));
  if (api.world.members.remove(id, user, api.world.visibility.commitTime()))
    commit(api, call, { kind: 'member.removed', list: id, user });
  return { body: { data: { is_member: false } } };
};
