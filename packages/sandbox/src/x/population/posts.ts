import { type Random, randomOf, wholeBetween } from '../../random.js';
import { addressees } from '../api/create-post.js';
import { postFrom, type PostParts, repostOf } from '../world/compose-post.js';
import { type Media, type Post, snowflakeAt, type User } from '../world/records.js';
import type { World } from '../world/world.js';
import { roles, flourish, oneOf, sentence, USERS } from './users.js';

interface Generation {
  readonly world: World;
  readonly users: readonly User[];
  readonly random: Random;
  readonly created: Post[];
}

/** Generates a month of posts before `end`. */
export function addPosts(world: World, users: readonly User[], seed: number, end: number): Post[] {
  const generation: Generation = { world, users, random: randomOf(seed, 'posts'), created: [] };
  for (const planned of planPosts(seed, end)) {
    const author = users[planned.author];
    if (author && !author.suspended) addPost(generation, planned, author);
  }
  return generation.created;
}

function addPost(generation: Generation, planned: PlannedPost, author: User): void {
  const { world, random, created } = generation;
  const before = created.at(-wholeBetween(random, 1, 200));
  const parts = partsOf(generation, planned, author);
  const enter = (post: Post): Post => {
    world.addPost(post);
    created.push(post);
    return post;
  };
  if (planned.kind === 'repost' && before) {
    const original = before.references.some(({ type }) => type === 'retweeted')
      ? undefined
      : before;
    if (!original || world.retweets.holds(author.id, original.id)) return;
    const { id, authorId, created: commitTime } = parts;
    world.retweets.add(authorId, original.id, id, commitTime);
    enter(repostOf(world, original, { id, authorId, created: commitTime }));
    return;
  }
  if (planned.kind !== 'thread') {
    enter(postFrom(world, { ...parts, ...linkOf(generation, planned, author, before) }));
    return;
  }
  let target: Post | undefined;
  const length = wholeBetween(random, 3, 7);
  for (let part = 1; part <= length; part += 1) {
    const at = planned.at + part - 1;
    const id = snowflakeAt(at);
    const text = `${part}/${length} ${sentence(random)}`;
    target = enter(postFrom(world, { ...parts, id, created: { at, lag: 0 }, text, target }));
  }
}

function partsOf(
  { random, users }: Generation,
  { at, kind }: PlannedPost,
  author: User,
): PostParts {
  const mention = kind === 'mention' ? `@${mentioned(random, users, author)} ` : '';
  return {
    id: snowflakeAt(at),
    authorId: author.id,
    created: { at, lag: 0 },
    text: `${mention}${sentence(random)}${flourish(random)}`,
    unlisted: { likes: wholeBetween(random, 0, 60), impressions: wholeBetween(random, 50, 9000) },
  };
}

/** Other users mention `me`; `me` mentions any user. */
function mentioned(random: Random, users: readonly User[], author: User): string {
  const me = users[roles.me];
  const other = oneOf(random, users.slice(1, 200));
  return (author === me ? other : me)?.username ?? '';
}

function linkOf(
  { world, random }: Generation,
  { kind, at }: PlannedPost,
  author: User,
  before: Post | undefined,
): Partial<PostParts> {
  if (kind === 'picture') return { media: picturesOf(world, random, author, at) };
  if (!before) return {};
  if (kind === 'quote') return { quote: before };
  if (kind !== 'reply') return {};
  return { target: before, leading: addressees(world, author.id, before, '') };
}

function picturesOf(world: World, random: Random, author: User, at: number): Media[] {
  const isVideo = random() < 0.2;
  const count = isVideo ? 1 : wholeBetween(random, 1, 3);
  return Array.from({ length: count }, (_, index) => {
    const id = snowflakeAt(at - 60_000, index + 1);
    const media: Media = {
      id,
      key: `${isVideo ? 7 : 3}_${id}`,
      ownerId: author.id,
      type: isVideo ? 'video' : 'photo',
      width: 1200,
      height: 675,
      ...(isVideo && { durationMs: wholeBetween(random, 1000, 90_000) }),
      ...(random() < 0.5 && { altText: sentence(random) }),
    };
    world.media.set(media.key, media);
    return media;
  });
}

/** A post to generate: its author, time and kind. */
interface PlannedPost {
  readonly author: number;
  readonly at: number;
  readonly kind: 'plain' | 'mention' | 'reply' | 'quote' | 'repost' | 'picture' | 'thread';
}

const HOUR = 60 * 60_000;
const DAYS = 30;

/** The number of posts of each kind by `me`. */
const own: Readonly<Record<PlannedPost['kind'], number>> = {
  plain: 180,
  mention: 20,
  reply: 40,
  quote: 10,
  repost: 30,
  picture: 30,
  thread: 8,
};

/** The number of posts of each kind by all other users. */
const others: Readonly<Record<PlannedPost['kind'], number>> = {
  plain: 1500,
  mention: 260,
  reply: 250,
  quote: 60,
  repost: 100,
  picture: 120,
  thread: 10,
};

function spread(random: Random, end: number): number {
  return Math.floor(end - random() * DAYS * 24 * HOUR);
}

/** Plans the posts in order of time, at least 20 ms apart. */
function planPosts(seed: number, end: number): PlannedPost[] {
  const random = randomOf(seed, 'plan');
  const planned: PlannedPost[] = [];
  for (const [counts, isOwn] of [
    [own, true],
    [others, false],
  ] as const)
    for (const [kind, count] of Object.entries(counts) as [PlannedPost['kind'], number][])
      for (let turn = 0; turn < count; turn += 1)
        planned.push({
          kind,
          author: isOwn ? roles.me : wholeBetween(random, 1, USERS - 1),
          at: spread(random, end),
        });
  for (const author of [roles.stranger, roles.protected, roles.protectedFriend])
    for (let turn = 0; turn < 3; turn += 1)
      planned.push({ kind: 'plain', author, at: spread(random, end) });
  const inOrder = planned.toSorted((a, b) => a.at - b.at);
  let last = 0;
  return inOrder.map((one) => {
    last = Math.max(one.at, last + 20);
    return { ...one, at: last };
  });
}
