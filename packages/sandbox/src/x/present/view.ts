import type { Post, User } from '../world/records.js';
import type { World } from '../world/world.js';

/** The world as somebody sees it, or an app that is nobody. */
export interface View {
  readonly world: World;
  readonly viewerId: string | undefined;
}

export type Sight = 'visible' | 'missing' | 'protected' | 'suspended';

export function sightOfUser({ world, viewerId }: View, user: User | undefined): Sight {
  if (!user) return 'missing';
  if (user.suspended) return 'suspended';
  const isOpen = !user.protected || user.id === viewerId;
  if (isOpen || (viewerId !== undefined && world.follows.shows(viewerId, user.id)))
    return 'visible';
  return 'protected';
}

/** Of a post by a suspended user nothing is said but that it is not there. */
export function sightOfPost(view: View, post: Post | undefined): Sight {
  if (!post || !view.world.visibility.shows(post)) return 'missing';
  const sight = sightOfUser(view, view.world.users.get(post.authorId));
  return sight === 'suspended' ? 'missing' : sight;
}

/** The newest posts first, of those that can be seen. */
export function* postsIn(view: View, wanted: (post: Post) => boolean): Generator<Post> {
  for (const post of view.world.newest())
    if (wanted(post) && sightOfPost(view, post) === 'visible') yield post;
}
