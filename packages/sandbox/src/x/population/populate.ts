import { hash } from '../../random.js';
import type { Clock } from '../clock.js';
import { copyWorld, createWorld, type World } from '../world/world.js';
import { postFrom } from '../world/compose-post.js';
import { LONG_AGO, type Post, snowflakeAt, type User } from '../world/records.js';
import { addFollows, addLists, addMarks, YEARS_AGO } from './edges.js';
import { addPosts } from './posts.js';
import { roles, idAt, userAt, USERS } from './users.js';

const DAY = 24 * 60 * 60_000;

interface Population {
  readonly world: World;
  readonly landmarks: NamedRecords;
}

/** The last generated population. Copying is much faster than generating. */
let created: (Population & { readonly key: string }) | undefined;

/** A new world with the users, posts and lists of a seed and day. */
export function populatedWorld(clock: Clock, seed: number): Population {
  const end = Math.floor(clock.now() / DAY) * DAY;
  const key = `${seed} ${end}`;
  if (created?.key !== key) {
    const world = createWorld({ now: () => end, advance: () => {} });
    created = { key, world, landmarks: populate(world, seed, end) };
  }
  const world = createWorld(clock);
  copyWorld(created.world, world);
  return { world, landmarks: created.landmarks };
}

function populate(world: World, seed: number, end: number): NamedRecords {
  const users = Array.from({ length: USERS }, (_, index) => userAt(seed, index));
  users.forEach(world.addUser);
  addFollows(world, users, seed);
  const posts = addPosts(world, users, seed, end);
  const landmarks = findNamedRecords(world, users, posts);
  addMarks(world, users, posts, seed, { ...landmarks, meId: landmarks.me.id });
  addLists(world, users, landmarks.listId);
  const me = users[roles.me];
  if (me) me.pinnedPostId = landmarks.threadId;
  return { ...landmarks, orphanId: orphan(world, users, landmarks.deletedPostId) };
}

/** Adds a reply, and deletes the post that it replies to. */
function orphan(world: World, users: readonly User[], deletedId: string): string {
  const deleted = world.posts.get(deletedId);
  if (!deleted) return '';
  const at = deleted.createdAt + 10;
  const post = postFrom(world, {
    id: snowflakeAt(at, 1),
    authorId: idAt(users, roles.friend),
    created: { at, lag: 0 },
    text: 'Seen there too',
    target: deleted,
    leading: [users[roles.me]?.username ?? ''],
  });
  world.addPost(post);
  deleted.deleted = LONG_AGO;
  return post.id;
}

/** A hash that is equal for equal populations. */
export function digestOf({ posts, users }: World): string {
  const ids = [...posts.values()].map(({ id, text }) => `${id} ${text}`);
  return hash(...users.keys(), ...ids).toString(16);
}

/** Users, posts and lists with known properties, for tests. */
export interface NamedRecords {
  readonly me: { readonly id: string; readonly username: string };
  /** A user who follows `me` and is followed back. */
  readonly friendId: string;
  /** A user without a follow relation to `me`. */
  readonly strangerId: string;
  readonly protectedId: string;
  readonly suspendedId: string;
  /** A post of `me` with more likes and reposts than fit on a page. */
  readonly popularPostId: string;
  /** A friend's post that mentions `me`: every tier may reply. */
  readonly mentionId: string;
  /** A friend's post that does not mention `me`. */
  readonly unaskedPostId: string;
  /** The first post of a thread by `me`. */
  readonly threadId: string;
  readonly pictureId: string;
  readonly deletedPostId: string;
  /** A friend's reply to the deleted post. */
  readonly orphanId: string;
  readonly protectedPostId: string;
  readonly listId: string;
}

function findNamedRecords(
  world: World,
  users: readonly User[],
  posts: readonly Post[],
): Omit<NamedRecords, 'orphanId'> {
  const me = users[roles.me];
  const meId = me?.id ?? '';
  const [strangerId, protectedId] = [idAt(users, roles.stranger), idAt(users, roles.protected)];
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
    friendId: idAt(users, roles.friend),
    strangerId,
    protectedId,
    suspendedId: idAt(users, roles.suspendedUser),
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
