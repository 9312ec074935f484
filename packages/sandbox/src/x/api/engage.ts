import * as z from 'zod';
import { missing } from '../problem/partial.js';
import { forbidden } from '../problem/problem.js';
import { bodyIn, idSchema } from './body.js';
import { commit, ownId, type Handler } from './call.js';
import { idFrom } from './query.js';
import { seenPost } from './targets.js';

export const postSchema = z.strictObject({ tweet_id: idSchema });
const bookmarkSchema = z.strictObject({ tweet_id: idSchema, folder_id: z.exactOptional(idSchema) });
const userSchema = z.strictObject({ target_user_id: idSchema });

/** To like and to keep: the same end, however often it is asked for. */
function mark(
  kind: 'like' | 'bookmark',
  schema: z.ZodType<{ tweet_id: string }>,
  told: string,
): Handler {
  return async (api, call) => {
    const own = ownId(call);
    const { tweet_id: id } = await bodyIn(call.request, schema);
    seenPost(api, call, id);
    const relation = kind === 'like' ? api.world.likes : api.world.bookmarks;
    if (!relation.holds(own, id)) {
      relation.add(own, id, api.world.newId(), api.world.visibility.moment());
      commit(api, call, { kind: `${kind}.created`, post: id });
    }
    return {
      body: { data: { [told]: true } },
      charges: [[kind === 'like' ? 'interaction' : 'bookmark', 1]],
    };
  };
}

function unmark(kind: 'like' | 'bookmark', told: string): Handler {
  return (api, call) => {
    const own = ownId(call);
    const id = idFrom('tweet_id', call.param('tweet_id'));
    const relation = kind === 'like' ? api.world.likes : api.world.bookmarks;
    if (relation.remove(own, id, api.world.visibility.moment()))
      commit(api, call, { kind: `${kind}.deleted`, post: id });
    return { body: { data: { [told]: false } }, charges: [['interaction-delete', 1]] };
  };
}

export const like = mark('like', postSchema, 'liked');
export const unlike = unmark('like', 'liked');
export const bookmark = mark('bookmark', bookmarkSchema, 'bookmarked');
export const unbookmark = unmark('bookmark', 'bookmarked');

export const follow: Handler = async (api, call) => {
  const own = ownId(call);
  const { world } = api;
  const { target_user_id: id } = await bodyIn(call.request, userSchema);
  const target = world.users.get(id);
  if (!target || target.suspended) throw missing('user', 'target_user_id', id);
  if (id === own) throw forbidden('You cannot follow yourself.');
  const charges = [['interaction', 1]] as const;
  // Somebody who is protected has to agree first, and nobody is there to do so.
  if (target.protected && !world.follows.holds(own, id))
    return { body: { data: { following: false, pending_follow: true } }, charges };
  if (!world.follows.holds(own, id)) {
    world.follows.add(own, id, world.newId(), world.visibility.moment());
    commit(api, call, { kind: 'follow.created', user: id });
  }
  return { body: { data: { following: true, pending_follow: false } }, charges };
};

export const unfollow: Handler = (api, call) => {
  const own = ownId(call);
  const id = idFrom('target_user_id', call.param('target'));
  if (api.world.follows.remove(own, id, api.world.visibility.moment()))
    commit(api, call, { kind: 'follow.deleted', user: id });
  return { body: { data: { following: false } }, charges: [['interaction-delete', 1]] };
};
