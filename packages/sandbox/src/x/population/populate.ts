import { hash, type Random, randomOf, wholeBetween } from '../../random.js';
import { addressees } from '../api/create-post.js';
import type { Clock } from '../../server/clock.js';
import { postFrom, type PostParts, repostOf } from '../world/compose-post.js';
import {
  LONG_AGO,
  type Media,
  type Post,
  referenceOf,
  snowflakeAt,
  type User,
} from '../world/records.js';
import { copyWorld, createWorld, type World } from '../world/world.js';
import { flourish, idAt, roles, sentence, userAt, USERS } from './users.js';

const DAY = 24 * 60 * 60_000;
const MONTH = 30 * DAY;
const YEARS_AGO = Date.UTC(2024, 0, 1);
const POSTS = 2500;

interface Population {
  readonly world: World;
  readonly landmarks: NamedRecords;
}

/** The last generated population. Copying is much faster than generating. */
let recent: (Population & { readonly key: string }) | undefined;

/** A new world with the users, posts and lists of a seed and day. */
export function populatedWorld(clock: Clock, seed: number): Population {
  const end = Math.floor(clock.now() / DAY) * DAY;
  const key = `${seed} ${end}`;
  if (recent?.key !== key) {
    const world = createWorld({ now: () => end, advance: () => {} });
    recent = { key, world, landmarks: populate(world, seed, end) };
  }
  const world = createWorld(clock);
  copyWorld(recent.world, world);
  return { world, landmarks: recent.landmarks };
}

function populate(world: World, seed: number, end: number): NamedRecords {
  const users = Array.from({ length: USERS }, (_, index) => userAt(seed, index));
  users.forEach(world.addUser);
  for (let index = 1; index <= 260; index += 1) {
    world.follows.add(idAt(users, index), idAt(users, roles.me), edgeId(index), LONG_AGO);
    if (index <= 170)
      world.follows.add(idAt(users, roles.me), idAt(users, index), edgeId(index), LONG_AGO);
  }
  const posts = addPosts(world, users, randomOf(seed, 'posts'), end);
  const landmarks = findNamedRecords(world, users, posts);
  addMarks(world, users, posts, landmarks);
  addLists(world, users, landmarks.listId);
  const me = users[roles.me];
  if (me) me.pinnedPostId = landmarks.threadId;
  return { ...landmarks, orphanId: orphan(world, users, landmarks.deletedPostId) };
}

const edgeId = (index: number): string => snowflakeAt(YEARS_AGO + index * 1000);

/** The kinds of consecutive posts, for `me` and for all others. */
const kinds = [
  'plain mention plain reply plain plain picture plain mention plain repost plain reply plain',
  'mention plain plain quote plain mention plain reply plain plain picture plain mention plain',
  'repost plain reply plain mention plain thread plain reply plain picture plain',
].flatMap((line) => line.split(' '));

/** Adds a month of posts before `end`; every eighth is by `me`. */
function addPosts(world: World, users: readonly User[], random: Random, end: number): Post[] {
  const created: Post[] = [];
  const enter = (post: Post): Post => {
    world.addPost(post);
    created.push(post);
    return post;
  };
  const sure = [roles.stranger, roles.protected, roles.protectedFriend];
  for (let turn = 0; turn < POSTS; turn += 1) {
    const isOwn = turn % 8 === 0;
    const index = isOwn ? roles.me : (sure[turn - 1] ?? wholeBetween(random, 1, USERS - 1));
    const [author, me] = [users[index], users[roles.me]];
    if (!author || !me || author.suspended) continue;
    const kind = sure.includes(index) ? 'plain' : kinds[(isOwn ? turn / 8 : turn) % kinds.length];
    const at = end - MONTH + Math.floor((turn * MONTH) / POSTS);
    const own = { id: snowflakeAt(at), authorId: author.id, created: { at, lag: 0 } };
    const before = created.at(-wholeBetween(random, 1, 200));
    if (kind === 'repost') {
      if (!before || referenceOf(before, 'retweeted')) continue;
      if (world.retweets.holds(author.id, before.id)) continue;
      world.retweets.add(author.id, before.id, own.id, own.created);
      enter(repostOf(world, before, own));
    } else if (kind === 'thread') addThread(world, random, own, enter);
    else {
      // Other users mention `me`; `me` mentions any user.
      const other = isOwn ? users[wholeBetween(random, 1, 200)] : me;
      const mention = kind === 'mention' ? `@${other?.username ?? ''} ` : '';
      enter(
        postFrom(world, {
          ...own,
          text: `${mention}${sentence(random)}${flourish(random)}`,
          unlisted: {
            likes: wholeBetween(random, 0, 60),
            impressions: wholeBetween(random, 50, 9000),
          },
          ...(kind === 'picture' && { media: picturesOf(world, random, own) }),
          ...(kind === 'quote' && { quote: before }),
          ...(kind === 'reply' &&
            before && { target: before, leading: addressees(world, author.id, before, '') }),
        }),
      );
    }
  }
  return created;
}

function addThread(
  world: World,
  random: Random,
  own: Pick<PostParts, 'authorId' | 'created'>,
  enter: (post: Post) => Post,
): void {
  let target: Post | undefined;
  for (let part = 1; part <= 4; part += 1) {
    const at = own.created.at + part - 1;
    const text = `${part}/4 ${sentence(random)}`;
    const parts = { ...own, id: snowflakeAt(at), created: { at, lag: 0 }, text, target };
    target = enter(postFrom(world, parts));
  }
}

function picturesOf(
  world: World,
  random: Random,
  { authorId, created }: Pick<PostParts, 'authorId' | 'created'>,
): Media[] {
  const isVideo = random() < 0.2;
  return Array.from({ length: isVideo ? 1 : wholeBetween(random, 1, 3) }, (_, index) => {
    const id = snowflakeAt(created.at - 60_000, index + 1);
    const media: Media = {
      id,
      key: `${isVideo ? 7 : 3}_${id}`,
      ownerId: authorId,
      type: isVideo ? 'video' : 'photo',
      width: 1200,
      height: 675,
      ...(isVideo && { durationMs: wholeBetween(random, 1000, 90_000) }),
      ...(index % 2 === 1 && { altText: sentence(random) }),
    };
    world.media.set(media.key, media);
    return media;
  });
}

/** Adds more likes and bookmarks than fit on a page. Of the named posts only one is bookmarked. */
function addMarks(
  world: World,
  users: readonly User[],
  posts: readonly Post[],
  { popularPostId, mentionId, unaskedPostId, me }: Omit<NamedRecords, 'orphanId'>,
): void {
  for (let index = 1; index <= 250; index += 1)
    world.likes.add(idAt(users, index), popularPostId, edgeId(index), LONG_AGO);
  const others = posts.filter(
    ({ id, authorId, references }) =>
      authorId !== me.id &&
      references.every(({ type }) => type !== 'retweeted') &&
      id !== mentionId &&
      id !== unaskedPostId,
  );
  for (const [index, { id }] of others.slice(-1320).entries()) {
    if (index % 6 === 0) world.likes.add(me.id, id, edgeId(300 + index), LONG_AGO);
    if (index % 9 === 0) world.bookmarks.add(me.id, id, edgeId(300 + index), LONG_AGO);
  }
  world.bookmarks.add(me.id, unaskedPostId, edgeId(2000), LONG_AGO);
}

/** Adds a list with several pages of members, a private list, and another user's list. */
function addLists(world: World, users: readonly User[], listId: string): void {
  const me = idAt(users, roles.me);
  const friend = idAt(users, roles.friend);
  const add = (id: string, ownerId: string, name: string, members: number, isPrivate = false) => {
    world.lists.set(id, {
      id,
      ownerId,
      createdAt: YEARS_AGO,
      name,
      description: `${name}, as of today`,
      private: isPrivate,
      created: LONG_AGO,
    });
    for (let index = members; index >= 1; index -= 1)
      world.members.add(id, idAt(users, index + 10), edgeId(1000 - index), LONG_AGO);
  };
  add(listId, me, 'Shore birds', 120);
  add(snowflakeAt(YEARS_AGO, 8), me, 'To look up', 3, true);
  add(snowflakeAt(YEARS_AGO, 9), friend, 'Friends', 12);
  world.members.add(snowflakeAt(YEARS_AGO, 9), me, edgeId(1000), LONG_AGO);
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
  /** A post of `me` with more likes than fit on a page. */
  readonly popularPostId: string;
  /** A friend's post that mentions `me`: every tier may reply. */
  readonly mentionId: string;
  /** A friend's post that does not mention `me`, who has bookmarked it. */
  readonly unaskedPostId: string;
  /** The first post of a thread by `me`. */
  readonly threadId: string;
  /** A post of `me` with two photos, of which the second has an alt text. */
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
    pictureId: pick((post) => mine(post) && post.mediaKeys.length === 2),
    deletedPostId: pick(
      (post) => mine(post) && post.id !== popularPostId && !/^\d\//.test(post.sent),
    ),
    protectedPostId: pick((post) => post.authorId === protectedId),
    listId: snowflakeAt(YEARS_AGO, 7),
  };
}
