import type { Clock } from '../clock.js';
import { createRelation, type Relation } from './relation.js';
import { compareIds, createSnowflakes } from './snowflake.js';
import { referenceOf, type List, type Media, type Post, type User } from './things.js';
import { createVisibility, type Visibility } from './visibility.js';

export const relations = [
  'likes',
  'follows',
  'retweets',
  'bookmarks',
  'members',
  'followedLists',
  'pinnedLists',
] as const;

export interface World extends Readonly<Record<(typeof relations)[number], Relation>> {
  readonly clock: Clock;
  readonly visibility: Visibility;
  readonly newId: () => string;
  readonly users: ReadonlyMap<string, User>;
  readonly userNamed: (username: string) => User | undefined;
  readonly addUser: (user: User) => void;
  readonly posts: ReadonlyMap<string, Post>;
  readonly addPost: (post: Post) => void;
  /** The newest first. */
  readonly newest: () => Iterable<Post>;
  readonly postsBy: (userId: string) => readonly Post[];
  readonly repliesTo: (id: string) => readonly Post[];
  readonly quotesOf: (id: string) => readonly Post[];
  readonly media: Map<string, Media>;
  readonly lists: Map<string, List>;
}

/** Everything that there is. Nothing is ever taken out: what was deleted is marked as gone. */
export function createWorld(clock: Clock): World {
  const visibility = createVisibility(clock);
  const users = new Map<string, User>();
  const usersByName = new Map<string, User>();
  const posts = new Map<string, Post>();
  const inOrder: Post[] = [];
  const byAuthor = new Map<string, Post[]>();
  const replies = new Map<string, Post[]>();
  const quotes = new Map<string, Post[]>();
  const enter = (index: Map<string, Post[]>, key: string | undefined, post: Post): void => {
    if (key === undefined) return;
    const known = index.get(key);
    if (known) known.push(post);
    else index.set(key, [post]);
  };

  return {
    clock,
    visibility,
    newId: createSnowflakes(clock.now),
    ...(Object.fromEntries(relations.map((name) => [name, createRelation(visibility)])) as Record<
      (typeof relations)[number],
      Relation
    >),
    users,
    userNamed: (username) => usersByName.get(username.toLowerCase()),
    addUser: (user) => {
      users.set(user.id, user);
      usersByName.set(user.username.toLowerCase(), user);
    },
    posts,
    addPost: (post) => {
      posts.set(post.id, post);
      let at = inOrder.length;
      while (at > 0 && compareIds(inOrder[at - 1]?.id ?? '', post.id) > 0) at -= 1;
      inOrder.splice(at, 0, post);
      enter(byAuthor, post.authorId, post);
      enter(replies, referenceOf(post, 'replied_to'), post);
      enter(quotes, referenceOf(post, 'quoted'), post);
    },
    newest: function* newest() {
      for (let at = inOrder.length - 1; at >= 0; at -= 1) {
        const post = inOrder[at];
        if (post) yield post;
      }
    },
    postsBy: (userId) => byAuthor.get(userId) ?? [],
    repliesTo: (id) => replies.get(id) ?? [],
    quotesOf: (id) => quotes.get(id) ?? [],
    media: new Map(),
    lists: new Map(),
  };
}
