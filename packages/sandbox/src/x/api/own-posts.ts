import * as z from 'zod';
import { missing } from '../problem/partial.js';
import { forbidden } from '../problem/problem.js';
import { bodyIn } from './body.js';
import { commit, userOf, type Handler } from './call.js';
import { idFrom } from './query.js';

export const deletePost: Handler = (api, call) => {
  const id = idFrom('id', call.param('id'));
  const post = api.world.posts.get(id);
  if (!post) throw missing('tweet', 'id', id);
  if (post.authorId !== userOf(call))
    throw forbidden('You are not authorized to delete this Tweet.');
  // Deleted is deleted, however often it is asked for.
  if (!post.gone) {
    post.gone = api.world.visibility.moment();
    commit(api, call, { kind: 'post.deleted', id });
  }
  return { body: { data: { deleted: true } }, charges: [['interaction-delete', 1]] };
};

const hiddenSchema = z.strictObject({ hidden: z.boolean() });

export const hideReply: Handler = async (api, call) => {
  const id = idFrom('tweet_id', call.param('id'));
  const { hidden } = await bodyIn(call.request, hiddenSchema);
  const post = api.world.posts.get(id);
  if (!post || post.gone) throw missing('tweet', 'tweet_id', id);
  const root = api.world.posts.get(post.conversationId);
  if (root?.authorId !== userOf(call) || post.id === post.conversationId)
    throw forbidden('You are not permitted to perform this action.');
  if (post.hidden !== hidden) {
    post.hidden = hidden;
    commit(api, call, { kind: hidden ? 'reply.hidden' : 'reply.shown', id });
  }
  return { body: { data: { hidden } } };
};
