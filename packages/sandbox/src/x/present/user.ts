import type { Json, JsonObject } from '../../json.js';
import type { User } from '../world/things.js';
import { instant } from './instant.js';
import type { Shape } from './shape.js';
import { sightOfPost, type View } from './view.js';

type Field = (user: User, view: View) => Json | undefined;

const fields: Readonly<Record<string, Field>> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  username: ({ username }) => username,
  created_at: ({ createdAt }) => instant(createdAt),
  description: ({ description }) => description,
  location: ({ location }) => location,
  protected: (user) => user.protected,
  verified: ({ verifiedType }) => verifiedType !== 'none',
  verified_type: ({ verifiedType }) => verifiedType,
  url: () => '',
  profile_image_url: ({ id }) => `https://pbs.twimg.com/profile_images/${id}/sandbox_normal.png`,
  pinned_tweet_id: ({ pinnedPostId }) => pinnedPostId,
  most_recent_tweet_id: ({ id }, view) => newestOf(id, view),
  public_metrics: (user, view) => publicMetrics(user, view),
};

function newestOf(userId: string, view: View): string | undefined {
  return view.world.postsBy(userId).findLast((post) => sightOfPost(view, post) === 'visible')?.id;
}

function publicMetrics({ id, unlisted }: User, { world }: View): JsonObject {
  return {
    followers_count: world.follows.to(id).length + unlisted.followers,
    following_count: world.follows.of(id).length + unlisted.following,
    tweet_count: world.postsBy(id).filter(world.visibility.shows).length + unlisted.posts,
    listed_count: world.members.to(id).length + unlisted.listed,
    like_count: world.likes.of(id).length,
    media_count: 0,
  };
}

export function presentUser(user: User, view: View, shape: Shape): JsonObject {
  const wanted = new Set(shape.user);
  for (const name of ['pinned_tweet_id', 'most_recent_tweet_id'])
    if (shape.expansions.has(name)) wanted.add(name);
  const told: Record<string, Json> = {};
  for (const name of wanted) {
    const value = fields[name]?.(user, view);
    if (value !== undefined) told[name] = value;
  }
  return told;
}
