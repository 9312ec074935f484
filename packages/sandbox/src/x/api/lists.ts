import type { JsonObject } from '../../json.js';
import { presentList } from '../present/records.js';
import { notFound } from '../problems.js';
import type { List } from '../world/records.js';
import { type Call, type Handler, type Reply, userOf, viewOf } from './call.js';
import { shapeFrom } from '../present/shape.js';
import { idFrom } from './input.js';
import { paginate } from './replies.js';
import { listPosts as postsOfMembers } from './timelines.js';
import { userNotFound, usersAlong } from './lookups.js';

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
  const data = lists.map((one) => presentList(one, viewOf(call), shapeFrom(call.query)));
  return {
    body: {
      ...(data.length > 0 && { data: 'single' in rest ? data[0] : data }),
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
  userNotFound(call) ??
  pageOfLists(
    call,
    call.world.members.to(call.param('id')).flatMap(({ id, from }) => {
      const one = visibleList(call, from);
      return one ? [{ id, list: one }] : [];
    }),
  );
