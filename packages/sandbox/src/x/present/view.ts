import type { Post, User } from '../world/records.js';
import type { World } from '../world/world.js';

/** The world as seen by a user, or by an app without one. */
export interface View {
  readonly world: World;
  readonly viewerId: string | undefined;
}

export type Access = 'visible' | 'missing' | 'protected' | 'suspended';

export function userAccess({ world, viewerId }: View, user: User | undefined): Access {
  if (!user) return 'missing';
  if (user.suspended) return 'suspended';
  const isOpen = !user.protected || user.id === viewerId;
  if (isOpen || (viewerId !== undefined && world.follows.shows(viewerId, user.id)))
    return 'visible';
  return 'protected';
}

/** Posts of suspended users are reported as missing. */
export function postAccess(view: View, post: Post | undefined): Access {
  if (!post || !view.world.visibility.shows(post)) return 'missing';
  const access = userAccess(view, view.world.users.get(post.authorId));
  return access === 'suspended' ? 'missing' : access;
}

/** The visible posts, newest first. */
export function* postsIn(view: View, wanted: (post: Post) => boolean): Generator<Post> {
  for (const post of view.world.newest())
    if (wanted(post) && postAccess(view, post) === 'visible') yield post;
}
