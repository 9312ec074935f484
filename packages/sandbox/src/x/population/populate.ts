import { hash } from '../../random.js';
import type { Clock } from '../clock.js';
import { copyWorld, createWorld, type World } from '../world/world.js';
import { postFrom } from '../world/compose-post.js';
import { LONG_AGO, type Post, snowflakeAt, type User } from '../world/records.js';
import { addFollows, addLists, addMarks, YEARS_AGO } from './edges.js';
import { addPosts } from './posts.js';
import { cast, idAt, userAt, USERS } from './users.js';

const DAY = 24 * 60 * 60_000;

interface Population {
  readonly world: World;
  readonly landmarks: Landmarks;
}

/** The last one that was made. To copy it is quicker by far than to make it again. */
let made: (Population & { readonly key: string }) | undefined;

/** The same users, posts and lists for the same seed and day, in a world of their own. */
export function populatedWorld(clock: Clock, seed: number): Population {
  const end = Math.floor(clock.now() / DAY) * DAY;
  const key = `${seed} ${end}`;
  if (made?.key !== key) {
    const world = createWorld({ now: () => end, advance: () => {} });
    made = { key, world, landmarks: populate(world, seed, end) };
  }
  const world = createWorld(clock);
  copyWorld(made.world, world);
  return { world, landmarks: made.landmarks };
}

function populate(world: World, seed: number, end: number): Landmarks {
  const users = Array.from({ length: USERS }, (_, index) => userAt(seed, index));
  users.forEach(world.addUser);
  addFollows(world, users, seed);
  const posts = addPosts(world, users, seed, end);
  const landmarks = findLandmarks(world, users, posts);
  addMarks(world, users, posts, seed, { ...landmarks, meId: landmarks.me.id });
  addLists(world, users, landmarks.listId);
  const me = users[cast.me];
  if (me) me.pinnedPostId = landmarks.threadId;
  return { ...landmarks, orphanId: orphan(world, users, landmarks.deletedPostId) };
}

/** A reply outlives what it replies to. */
function orphan(world: World, users: readonly User[], deletedId: string): string {
  const deleted = world.posts.get(deletedId);
  if (!deleted) return '';
  const at = deleted.createdAt + 10;
  const post = postFrom(world, {
    id: snowflakeAt(at, 1),
    authorId: idAt(users, cast.friend),
    made: { at, lag: 0 },
    text: 'Seen there too',
    target: deleted,
    leading: [users[cast.me]?.username ?? ''],
  });
  world.addPost(post);
  deleted.gone = LONG_AGO;
  return post.id;
}

/** A number that is the same for equal populations. */
export function digestOf({ posts, users }: World): string {
  const ids = [...posts.values()].map(({ id, text }) => `${id} ${text}`);
  return hash(...users.keys(), ...ids).toString(16);
}

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
type Found = Omit<Landmarks, 'orphanId'>;

function findLandmarks(world: World, users: readonly User[], posts: readonly Post[]): Found {
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
