import { sightOfUser } from '../present/view.js';
import { missing } from '../problem/partial.js';
import type { Post } from '../world/things.js';
import { viewOf, type Call, type XApi } from './call.js';

/** Writes see what is true: also a post that reads do not show yet, and not one that they still show. */
export function targetPost(api: XApi, call: Call, id: string): Post | undefined {
  const post = api.world.posts.get(id);
  if (!post || post.gone) return undefined;
  const author = api.world.users.get(post.authorId);
  return sightOfUser(viewOf(api, call), author) === 'visible' ? post : undefined;
}

export function seenPost(api: XApi, call: Call, id: string, parameter = 'tweet_id'): Post {
  const post = targetPost(api, call, id);
  if (!post) throw missing('tweet', parameter, id);
  return post;
}
