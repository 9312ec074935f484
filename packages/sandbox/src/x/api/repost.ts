import { repostOf } from '../world/repost.js';
import { bodyIn } from './body.js';
import { commit, ownId, type Handler } from './call.js';
import { postSchema } from './engage.js';
import { idFrom } from './query.js';
import { seenPost } from './targets.js';

export const repost: Handler = async (api, call) => {
  const own = ownId(call);
  const { world } = api;
  const { tweet_id: id } = await bodyIn(call.request, postSchema);
  const original = seenPost(api, call, id);
  const known = world.retweets.holds(own, id);
  const rest = known?.id ?? world.newId();
  if (!known) {
    const made = world.visibility.moment();
    world.retweets.add(own, id, rest, made);
    world.addPost(repostOf(world, original, { id: rest, authorId: own, made }));
    commit(api, call, { kind: 'repost.created', post: id, id: rest });
  }
  return { body: { data: { retweeted: true, rest_id: rest } }, charges: [['interaction', 1]] };
};

export const unrepost: Handler = (api, call) => {
  const own = ownId(call);
  const id = idFrom('source_tweet_id', call.param('tweet_id'));
  const gone = api.world.visibility.moment();
  const edge = api.world.retweets.remove(own, id, gone);
  const post = edge && api.world.posts.get(edge.id);
  if (edge && post) {
    post.gone = gone;
    commit(api, call, { kind: 'repost.deleted', post: id, id: edge.id });
  }
  return { body: { data: { retweeted: false } }, charges: [['interaction-delete', 1]] };
};
