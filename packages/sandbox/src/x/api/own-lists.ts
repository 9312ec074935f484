import * as z from 'zod';
import { missing } from '../problem/partial.js';
import { forbidden } from '../problem/problem.js';
import type { List } from '../world/things.js';
import { bodyIn, idSchema } from './body.js';
import { commit, userOf, type Call, type Handler, type XApi } from './call.js';
import { idFrom } from './query.js';

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
  if (!found || found.gone) throw missing('list', 'id', id);
  if (found.ownerId !== userOf(call)) throw forbidden('You are not allowed to edit this list.');
  return found;
}

export const createList: Handler = async (api, call) => {
  const given = await bodyIn(call.request, createSchema);
  const made = api.world.visibility.moment();
  const id = api.world.newId();
  api.world.lists.set(id, {
    id,
    ownerId: userOf(call),
    createdAt: made.at,
    made,
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
  found.gone = api.world.visibility.moment();
  commit(api, call, { kind: 'list.deleted', id: found.id });
  return { body: { data: { deleted: true } } };
};

export const addMember: Handler = async (api, call) => {
  const { id } = ownList(api, call);
  const { user_id: user } = await bodyIn(call.request, memberSchema);
  if (!api.world.users.has(user)) throw missing('user', 'user_id', user);
  if (!api.world.members.holds(id, user)) {
    api.world.members.add(id, user, api.world.newId(), api.world.visibility.moment());
    commit(api, call, { kind: 'member.added', list: id, user });
  }
  return { body: { data: { is_member: true } } };
};

export const removeMember: Handler = (api, call) => {
  const { id } = ownList(api, call);
  const user = idFrom('user_id', call.param('user'));
  if (api.world.members.remove(id, user, api.world.visibility.moment()))
    commit(api, call, { kind: 'member.removed', list: id, user });
  return { body: { data: { is_member: false } } };
};
