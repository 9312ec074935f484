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
} from './call.js';
import { bodyIn, idFrom, idSchema } from './input.js';
import { paginate } from './replies.js';
import { listPosts as postsOfMembers } from './timelines.js';
import { userNotFound, usersAlong } from './lookups.js';
import * as z from 'zod';

/** A private list is visible only to its owner. */
function visibleList(call: Call, id: string): List | undefined {
  const list = call.world.lists.get(id);
  if (!list || !call.world.visibility.shows(list)) return undefined;
  return list.private && list.ownerId !== userOf(call) ? undefined : list;
}

function listsReply(
  call: Call,
  lists: readonly List[],
  rest: { readonly single: true } | { readonly meta: JsonObject },
): Reply {
  const [view, shape] = [viewOf(call), shapeOf(call, 'list')];
  const owners = shape.expansions.has('owner_id')
    ? [...new Set(lists.map(({ ownerId }) => ownerId))].flatMap(
        (id) => call.world.users.get(id) ?? [],
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

function listNotFound(call: Call): Reply | undefined {
  const id = idFrom('id', call.param('id'));
  return visibleList(call, id) ? undefined : notThere(id);
}

export const list: Handler = (call) => {
  const id = idFrom('id', call.param('id'));
  const found = visibleList(call, id);
  return found ? listsReply(call, [found], { single: true }) : notThere(id);
};

export const listMembers: Handler = (call) =>
  listNotFound(call) ?? usersAlong(call, call.world.members.of(call.param('id')), 'to');

export const listPosts: Handler = (call) => {
  const members = call.world.members.of(call.param('id')).map(({ to }) => to);
  return listNotFound(call) ?? postsOfMembers(call, new Set(members));
};

function pageOfLists(call: Call, lists: readonly { id: string; list: List }[]): Reply {
  const { items, meta } = paginate(call, lists, { min: 1, max: 100, fallback: 100 });
  return listsReply(
    call,
    items.map((item) => item.list),
    { meta },
  );
}

function listsAlong(call: Call, edges: readonly Edge[], end: 'from' | 'to'): Reply {
  const found = edges.flatMap((edge) => {
    const one = visibleList(call, edge[end]);
    return one ? [{ id: edge.id, list: one }] : [];
  });
  return pageOfLists(call, found);
}

export const ownedLists: Handler = (call) => {
  const unavailable = userNotFound(call);
  if (unavailable) return unavailable;
  const owned = [...call.world.lists.values()]
    .filter(({ id, ownerId }) => ownerId === call.param('id') && visibleList(call, id))
    .map((one) => ({ id: one.id, list: one }))
    .toReversed();
  return pageOfLists(call, owned);
};

export const memberships: Handler = (call) =>
  userNotFound(call) ?? listsAlong(call, call.world.members.to(call.param('id')), 'from');

export const followed: Handler = (call) =>
  userNotFound(call) ?? listsAlong(call, call.world.followedLists.of(call.param('id')), 'to');

export const pinnedLists: Handler = (call) =>
  listsAlong(call, call.world.pinnedLists.of(ownId(call)), 'to');

const name = z.string().min(1).max(25);
const description = z.string().max(100);
const createSchema = z.strictObject({
  name,
  description: z.exactOptional(description),
  private: z.exactOptional(z.boolean()),
});
const updateSchema = createSchema.partial();
const memberSchema = z.strictObject({ user_id: idSchema });

function ownList(call: Call): List {
  const id = idFrom('id', call.param('id'));
  const found = call.world.lists.get(id);
  if (!found || found.deleted) throw missing('list', 'id', id);
  if (found.ownerId !== userOf(call)) throw forbidden('You are not allowed to edit this list.');
  return found;
}

export const createList: Handler = async (call) => {
  const given = await bodyIn(call.request, createSchema);
  const created = call.world.visibility.commitTime();
  const id = call.world.newId();
  call.world.lists.set(id, {
    id,
    ownerId: userOf(call),
    createdAt: created.at,
    created,
    name: given.name,
    description: given.description ?? '',
    private: given.private ?? false,
  });
  commit(call, { kind: 'list.created', id });
  return { status: 201, body: { data: { id, name: given.name } } };
};

export const updateList: Handler = async (call) => {
  const found = ownList(call);
  const given = await bodyIn(call.request, updateSchema);
  Object.assign(found, given);
  commit(call, { kind: 'list.updated', id: found.id });
  return { body: { data: { updated: true } } };
};

export const deleteList: Handler = (call) => {
  const found = ownList(call);
  found.deleted = call.world.visibility.commitTime();
  commit(call, { kind: 'list.deleted', id: found.id });
  return { body: { data: { deleted: true } } };
};

export const addMember: Handler = async (call) => {
  const { id } = ownList(call);
  const { user_id: user } = await bodyIn(call.request, memberSchema);
  if (!call.world.users.has(user)) throw missing('user', 'user_id', user);
  if (!call.world.members.holds(id, user)) {
    call.world.members.add(id, user, call.world.newId(), call.world.visibility.commitTime());
    commit(call, { kind: 'member.added', list: id, user });
  }
  return { body: { data: { is_member: true } } };
};

export const removeMember: Handler = (call) => {
  const { id } = ownList(call);
  const user = idFrom('user_id', call.param('user'));
  if (call.world.members.remove(id, user, call.world.visibility.commitTime()))
    commit(call, { kind: 'member.removed', list: id, user });
  return { body: { data: { is_member: false } } };
};
