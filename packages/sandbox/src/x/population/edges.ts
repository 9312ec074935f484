import { randomOf, sampleIndexes, wholeBetween } from '../../random.js';
import { postFrom, repostOf } from '../world/compose-post.js';
import { LONG_AGO, type Post, referenceOf, snowflakeAt, type User } from '../world/records.js';
import type { World } from '../world/world.js';
import { roles, idAt, USERS } from './users.js';

export const YEARS_AGO = Date.UTC(2024, 0, 1);

/** Generates increasing ids for edges. */
function edgeIds(): () => string {
  let count = 0;
  return () => snowflakeAt(YEARS_AGO + (count += 1) * 1000);
}

export function addFollows(world: World, users: readonly User[], seed: number): void {
  const nextId = edgeIds();
  const me = idAt(users, roles.me);
  const apart = [roles.stranger, roles.protected, roles.suspendedUser];
  for (let index = 1; index < USERS; index += 1) {
    const other = idAt(users, index);
    if (index <= 260) world.follows.add(other, me, nextId(), LONG_AGO);
    if (index <= 170) world.follows.add(me, other, nextId(), LONG_AGO);
    const random = randomOf(seed, 'follows', index);
    const isOpen = (target: number): boolean => target !== index && !apart.includes(target);
    if (apart.includes(index)) continue;
    for (let turn = 0; turn < 5; turn += 1) {
      const target = wholeBetween(random, 1, USERS - 1);
      const id = idAt(users, target);
      if (isOpen(target) && !world.follows.holds(other, id))
        world.follows.add(other, id, nextId(), LONG_AGO);
    }
  }
}

/** The posts that likes and bookmarks refer to. */
interface MarkedPosts {
  readonly meId: string;
  readonly popularPostId: string;
  readonly deletedPostId: string;
}

export function addMarks(
  world: World,
  users: readonly User[],
  posts: readonly Post[],
  seed: number,
  { popularPostId: popular, meId, deletedPostId }: MarkedPosts,
): void {
  const nextId = edgeIds();
  for (let index = 1; index <= 250; index += 1)
    world.likes.add(idAt(users, index), popular, nextId(), LONG_AGO);
  const original = world.posts.get(popular);
  if (original) makePopular(world, users, original);
  const isOthers = (index: number): boolean => {
    const post = posts[index];
    return (
      post !== undefined &&
      post.authorId !== meId &&
      !referenceOf(post, 'retweeted') &&
      post.id !== deletedPostId
    );
  };
  const random = randomOf(seed, 'marks');
  for (const index of sampleIndexes(random, posts.length, 220, isOthers))
    world.likes.add(meId, posts[index]?.id ?? '', nextId(), LONG_AGO);
  for (const index of sampleIndexes(random, posts.length, 140, isOthers))
    world.bookmarks.add(meId, posts[index]?.id ?? '', nextId(), LONG_AGO);
}

/** Adds more reposts than fit on a page, and a few quotes. */
function makePopular(world: World, users: readonly User[], original: Post): void {
  const isFirst = ({ id }: User): boolean => !world.retweets.holds(id, original.id);
  for (const [index, { id: authorId }] of users.slice(1, 131).filter(isFirst).entries()) {
    const at = original.createdAt + (index + 1) * 5;
    const own = { id: snowflakeAt(at, 2), authorId, created: { at, lag: 0 } };
    world.retweets.add(authorId, original.id, own.id, own.created);
    world.addPost(repostOf(world, original, own));
  }
  for (const [index, { id: authorId }] of users.slice(131, 143).entries()) {
    const at = original.createdAt + 1000 + index;
    const own = { id: snowflakeAt(at, 2), authorId, created: { at, lag: 0 } };
    world.addPost(postFrom(world, { ...own, text: 'This is how it was', quote: original }));
  }
}

/** Adds a list with several pages of members, a private list, and another user's list. */
export function addLists(world: World, users: readonly User[], listId: string): void {
  const nextId = edgeIds();
  const me = idAt(users, roles.me);
  const lists = [
    { id: listId, ownerId: me, name: 'Shore birds', isPrivate: false, members: 120 },
    { id: snowflakeAt(YEARS_AGO, 8), ownerId: me, name: 'To look up', isPrivate: true, members: 3 },
    {
      id: snowflakeAt(YEARS_AGO, 9),
      ownerId: idAt(users, 1),
      name: 'Friends',
      isPrivate: false,
      members: 12,
    },
  ];
  for (const { id, ownerId, name, isPrivate, members } of lists) {
    const description = `${name}, as of today`;
    const createdAt = YEARS_AGO;
    world.lists.set(id, {
      id,
      ownerId,
      createdAt,
      name,
      description,
      private: isPrivate,
      created: LONG_AGO,
    });
    for (let index = members; index >= 1; index -= 1)
      world.members.add(id, idAt(users, index + 10), nextId(), LONG_AGO);
  }
  const [first, , last] = lists;
  world.members.add(last?.id ?? '', me, nextId(), LONG_AGO);
  world.followedLists.add(me, last?.id ?? '', nextId(), LONG_AGO);
  world.pinnedLists.add(me, first?.id ?? '', nextId(), LONG_AGO);
}
