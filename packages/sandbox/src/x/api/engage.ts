import * as z from 'zod';
import { forbidden, missing } from '../problems.js';
import { bodyIn, idFrom, idSchema } from './input.js';
import { commit, type Handler, ownId, visiblePost, userOf } from './call.js';
import { repostOf } from '../world/compose-post.js';

const postSchema = z.strictObject({ tweet_id: idSchema });
const bookmarkSchema = z.strictObject({ tweet_id: idSchema, folder_id: z.exactOptional(idSchema) });
const userSchema = z.strictObject({ target_user_id: idSchema });

/** Likes or bookmarks a post. Repetition has no further effect. */
function mark(
  kind: 'like' | 'bookmark',
  schema: z.ZodType<{ tweet_id: string }>,
  field: string,
): Handler {
  return async (call) => {
    const own = ownId(call);
    const { tweet_id: id } = await bodyIn(call.request, schema);
    visiblePost(call, id);
    const relation = kind === 'like' ? call.world.likes : call.world.bookmarks;
    if (!relation.holds(own, id)) {
      relation.add(own, id, call.world.newId(), call.world.visibility.commitTime());
      commit(call, { kind: `${kind}.created`, post: id });
    }
    return {
      body: { data: { [field]: true } },
      charges: [[kind === 'like' ? 'interaction' : 'bookmark', 1]],
    };
  };
}

function unmark(kind: 'like' | 'bookmark', field: string): Handler {
  return (call) => {
    const own = ownId(call);
    const id = idFrom('tweet_id', call.param('tweet_id'));
    const relation = kind === 'like' ? call.world.likes : call.world.bookmarks;
    if (relation.remove(own, id, call.world.visibility.commitTime()))
      commit(call, { kind: `${kind}.deleted`, post: id });
    return { body: { data: { [field]: false } }, charges: [['interaction-delete', 1]] };
  };
}

export const like = mark('like', postSchema, 'liked');
export const unlike = unmark('like', 'liked');
export const bookmark = mark('bookmark', bookmarkSchema, 'bookmarked');
export const unbookmark = unmark('bookmark', 'bookmarked');

export const follow: Handler = async (call) => {
  const own = ownId(call);
  const { world } = call;
  const { target_user_id: id } = await bodyIn(call.request, userSchema);
  const target = world.users.get(id);
  if (!target || target.suspended) throw missing('user', 'target_user_id', id);
  if (id === own) throw forbidden('You cannot follow yourself.');
  const charges = [['interaction', 1]] as const;
  // A protected user must approve the request, which never happens here.
  if (target.protected && !world.follows.holds(own, id))
    return { body: { data: { following: false, pending_follow: true } }, charges };
  if (!world.follows.holds(own, id)) {
    world.follows.add(own, id, world.newId(), world.visibility.commitTime());
    commit(call, { kind: 'follow.created', user: id });
  }
  return { body: { data: { following: true, pending_follow: false } }, charges };
};

export const unfollow: Handler = (call) => {
  const own = ownId(call);
  const id = idFrom('target_user_id', call.param('target'));
  if (call.world.follows.remove(own, id, call.world.visibility.commitTime()))
    commit(call, { kind: 'follow.deleted', user: id });
  return { body: { data: { following: false } }, charges: [['interaction-delete', 1]] };
};

export const repost: Handler = async (call) => {
  const own = ownId(call);
  const { world } = call;
  const { tweet_id: id } = await bodyIn(call.request, postSchema);
  const original = visiblePost(call, id);
  const known = world.retweets.holds(own, id);
  const rest = known?.id ?? world.newId();
  if (!known) {
    const created = world.visibility.commitTime();
    world.retweets.add(own, id, rest, created);
    world.addPost(repostOf(world, original, { id: rest, authorId: own, created }));
    commit(call, { kind: 'repost.created', post: id, id: rest });
  }
  return { body: { data: { retweeted: true, rest_id: rest } }, charges: [['interaction', 1]] };
};

export const unrepost: Handler = (call) => {
  const own = ownId(call);
  const id = idFrom('source_tweet_id', call.param('tweet_id'));
  const deleted = call.world.visibility.commitTime();
  const edge = call.world.retweets.remove(own, id, deleted);
  const post = edge && call.world.posts.get(edge.id);
  if (edge && post) {
    post.deleted = deleted;
    commit(call, { kind: 'repost.deleted', post: id, id: edge.id });
  }
  return { body: { data: { retweeted: false } }, charges: [['interaction-delete', 1]] };
};

export const deletePost: Handler = (call) => {
  const id = idFrom('id', call.param('id'));
  const post = call.world.posts.get(id);
  if (!post) throw missing('tweet', 'id', id);
  if (post.authorId !== userOf(call))
    throw forbidden('You are not authorized to delete this Tweet.');
  // Deleting a deleted post succeeds.
  if (!post.deleted) {
    post.deleted = call.world.visibility.commitTime();
    commit(call, { kind: 'post.deleted', id });
  }
  return { body: { data: { deleted: true } }, charges: [['interaction-delete', 1]] };
};
