import { hash } from '../../random/random.js';
import type { Clock } from '../clock.js';
import { copyWorld } from '../world/copy.js';
import { postFrom } from '../world/post-from.js';
import { snowflakeAt } from '../world/snowflake.js';
import type { User } from '../world/things.js';
import { LONG_AGO } from '../world/visibility.js';
import { createWorld, type World } from '../world/world.js';
import { addFollows, addLists, addMarks } from './edges.js';
import { findLandmarks, type Landmarks } from './landmarks.js';
import { addPosts } from './posts.js';
import { cast, idAt, userAt, USERS } from './users.js';

const DAY = 24 * 60 * 60_000;

export interface Population {
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
