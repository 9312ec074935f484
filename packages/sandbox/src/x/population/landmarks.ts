import { snowflakeAt } from '../world/snowflake.js';
import type { Post, User } from '../world/things.js';
import type { World } from '../world/world.js';
import { cast, idAt } from './users.js';
import { YEARS_AGO } from './edges.js';

/** Who and what a test can go by, without looking for it. */
export interface Landmarks {
  readonly me: { readonly id: string; readonly username: string };
  /** Follows the user and is followed. */
  readonly friendId: string;
  /** Neither follows nor is followed. */
  readonly strangerId: string;
  readonly protectedId: string;
  readonly suspendedId: string;
  /** Of the user: liked and reposted by more than fit on a page. */
  readonly popularPostId: string;
  /** Of somebody else, and it mentions the user: can be answered on every tier. */
  readonly mentionId: string;
  /** Of somebody else, who has not asked for an answer. */
  readonly unaskedPostId: string;
  /** The first of a thread by the user. */
  readonly threadId: string;
  readonly pictureId: string;
  readonly deletedPostId: string;
  /** Of somebody else: a reply to what was deleted. */
  readonly orphanId: string;
  readonly protectedPostId: string;
  readonly listId: string;
}

/** All that was there before anything was answered or deleted. */
export type Found = Omit<Landmarks, 'orphanId'>;

export function findLandmarks(world: World, users: readonly User[], posts: readonly Post[]): Found {
  const me = users[cast.me];
  const meId = me?.id ?? '';
  const [strangerId, protectedId] = [idAt(users, cast.stranger), idAt(users, cast.closed)];
  const named = (post: Post): boolean =>
    post.entities.mentions?.some(({ id }) => id === meId) ?? false;
  const isPlain = (post: Post): boolean => post.references.length === 0;
  const pick = (wanted: (post: Post) => boolean): string => posts.findLast(wanted)?.id ?? '';
  const mine = (post: Post): boolean => post.authorId === meId && isPlain(post);
  const isFriends = (post: Post): boolean =>
    world.follows.holds(meId, post.authorId) !== undefined &&
    world.users.get(post.authorId)?.protected === false;
  const popularPostId = pick((post) => mine(post) && post.mediaKeys.length === 0);
  return {
    me: { id: meId, username: me?.username ?? '' },
    friendId: idAt(users, cast.friend),
    strangerId,
    protectedId,
    suspendedId: idAt(users, cast.banned),
    popularPostId,
    mentionId: pick((post) => isFriends(post) && isPlain(post) && named(post)),
    unaskedPostId: pick((post) => isFriends(post) && isPlain(post) && !named(post)),
    threadId: pick((post) => mine(post) && post.sent.startsWith('1/')),
    pictureId: pick((post) => mine(post) && post.mediaKeys.length > 0),
    deletedPostId: pick(
      (post) => mine(post) && post.id !== popularPostId && !/^\d\//.test(post.sent),
    ),
    protectedPostId: pick((post) => post.authorId === protectedId),
    listId: snowflakeAt(YEARS_AGO, 7),
  };
}
