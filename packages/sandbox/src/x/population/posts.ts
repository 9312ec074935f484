import { type Random, randomOf, wholeBetween } from '../../random.js';
import { addressees } from '../api/create-post.js';
import { postFrom, type PostParts, repostOf } from '../world/compose-post.js';
import { type Media, type Post, snowflakeAt, type User } from '../world/records.js';
import type { World } from '../world/world.js';
import { cast, flourish, oneOf, sentence, USERS } from './users.js';

interface Scene {
  readonly world: World;
  readonly users: readonly User[];
  readonly random: Random;
  readonly made: Post[];
}

/** A month of posts, the last of them at the given time. */
export function addPosts(world: World, users: readonly User[], seed: number, end: number): Post[] {
  const scene: Scene = { world, users, random: randomOf(seed, 'posts'), made: [] };
  for (const planned of planOf(seed, end)) {
    const author = users[planned.author];
    if (author && !author.suspended) addPost(scene, planned, author);
  }
  return scene.made;
}

function addPost(scene: Scene, planned: Planned, author: User): void {
  const { world, random, made } = scene;
  const before = made.at(-wholeBetween(random, 1, 200));
  const parts = partsOf(scene, planned, author);
  const enter = (post: Post): Post => {
    world.addPost(post);
    made.push(post);
    return post;
  };
  if (planned.kind === 'repost' && before) {
    const original = before.references.some(({ type }) => type === 'retweeted')
      ? undefined
      : before;
    if (!original || world.retweets.holds(author.id, original.id)) return;
    const { id, authorId, made: moment } = parts;
    world.retweets.add(authorId, original.id, id, moment);
    enter(repostOf(world, original, { id, authorId, made: moment }));
    return;
  }
  if (planned.kind !== 'thread') {
    enter(postFrom(world, { ...parts, ...linkOf(scene, planned, author, before) }));
    return;
  }
  let target: Post | undefined;
  const length = wholeBetween(random, 3, 7);
  for (let part = 1; part <= length; part += 1) {
    const at = planned.at + part - 1;
    const id = snowflakeAt(at);
    const text = `${part}/${length} ${sentence(random)}`;
    target = enter(postFrom(world, { ...parts, id, made: { at, lag: 0 }, text, target }));
  }
}

function partsOf({ random, users }: Scene, { at, kind }: Planned, author: User): PostParts {
  const mention = kind === 'mention' ? `@${mentioned(random, users, author)} ` : '';
  return {
    id: snowflakeAt(at),
    authorId: author.id,
    made: { at, lag: 0 },
    text: `${mention}${sentence(random)}${flourish(random)}`,
    unlisted: { likes: wholeBetween(random, 0, 60), impressions: wholeBetween(random, 50, 9000) },
  };
}

/** Others mostly write to the one user; the one user writes to anybody. */
function mentioned(random: Random, users: readonly User[], author: User): string {
  const me = users[cast.me];
  const other = oneOf(random, users.slice(1, 200));
  return (author === me ? other : me)?.username ?? '';
}

function linkOf(
  { world, random }: Scene,
  { kind, at }: Planned,
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

/** What is to be posted, before it is: by whom, when, and about what. */
interface Planned {
  readonly author: number;
  readonly at: number;
  readonly kind: 'plain' | 'mention' | 'reply' | 'quote' | 'repost' | 'picture' | 'thread';
}

const HOUR = 60 * 60_000;
const DAYS = 30;

/** So many posts of each kind by the one user, spread over a month. */
const own: Readonly<Record<Planned['kind'], number>> = {
  plain: 180,
  mention: 20,
  reply: 40,
  quote: 10,
  repost: 30,
  picture: 30,
  thread: 8,
};

/** And by all others. */
const others: Readonly<Record<Planned['kind'], number>> = {
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

/** In the order of time, no two at once. */
function planOf(seed: number, end: number): Planned[] {
  const random = randomOf(seed, 'plan');
  const planned: Planned[] = [];
  for (const [counts, isOwn] of [
    [own, true],
    [others, false],
  ] as const)
    for (const [kind, count] of Object.entries(counts) as [Planned['kind'], number][])
      for (let turn = 0; turn < count; turn += 1)
        planned.push({
          kind,
          author: isOwn ? cast.me : wholeBetween(random, 1, USERS - 1),
          at: spread(random, end),
        });
  for (const author of [cast.stranger, cast.closed, cast.closedFriend])
    for (let turn = 0; turn < 3; turn += 1)
      planned.push({ kind: 'plain', author, at: spread(random, end) });
  const inOrder = planned.toSorted((a, b) => a.at - b.at);
  let last = 0;
  return inOrder.map((one) => {
    last = Math.max(one.at, last + 20);
    return { ...one, at: last };
  });
}
