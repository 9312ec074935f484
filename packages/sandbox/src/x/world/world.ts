import type { Clock } from '../../server/clock.js';
import {
  compareIds,
  createSnowflakes,
  createVisibility,
  type List,
  type Lifecycle,
  type Media,
  type CommitTime,
  type Post,
  referenceOf,
  type User,
  type Visibility,
} from './records.js';

const relations = ['likes', 'follows', 'retweets', 'bookmarks', 'members'] as const;

export interface World extends Readonly<Record<(typeof relations)[number], Relation>> {
  readonly clock: Clock;
  readonly visibility: Visibility;
  readonly newId: () => string;
  readonly users: ReadonlyMap<string, User>;
  readonly userNamed: (username: string) => User | undefined;
  readonly addUser: (user: User) => void;
  readonly posts: ReadonlyMap<string, Post>;
  readonly addPost: (post: Post) => void;
  /** Newest first. */
  readonly newest: () => Iterable<Post>;
  readonly postsBy: (userId: string) => readonly Post[];
  readonly repliesTo: (id: string) => readonly Post[];
  readonly quotesOf: (id: string) => readonly Post[];
  readonly media: Map<string, Media>;
  readonly lists: Map<string, List>;
}

/** All records of the upstream. Deleted records are kept and marked. */
export function createWorld(clock: Clock): World {
  const visibility = createVisibility(clock);
  const users = new Map<string, User>();
  const usersByName = new Map<string, User>();
  const posts = new Map<string, Post>();
  const inOrder: Post[] = [];
  const byAuthor = new Map<string, Post[]>();
  const replies = new Map<string, Post[]>();
  const quotes = new Map<string, Post[]>();
  const addTo = (index: Map<string, Post[]>, key: string | undefined, post: Post): void => {
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
      addTo(byAuthor, post.authorId, post);
      addTo(replies, referenceOf(post, 'replied_to'), post);
      addTo(quotes, referenceOf(post, 'quoted'), post);
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

/** A like, follow, repost, bookmark or membership. Repeating it after removal adds a new edge. */
export interface Edge extends Lifecycle {
  readonly from: string;
  readonly to: string;
  /** Increases with time; lists are sorted by it. */
  readonly id: string;
}

interface Relation {
  /** The current edge, visible to reads or not. */
  readonly holds: (from: string, to: string) => Edge | undefined;
  /** Whether reads show the edge. */
  readonly shows: (from: string, to: string) => boolean;
  readonly add: (from: string, to: string, id: string, created: CommitTime) => Edge;
  readonly remove: (from: string, to: string, deleted: CommitTime) => Edge | undefined;
  /** The edges that reads show, newest first. */
  readonly of: (from: string) => Edge[];
  readonly to: (to: string) => Edge[];
  /** All current edges, in order of creation. */
  readonly edges: () => Iterable<Edge>;
}

export function createRelation(visibility: Visibility): Relation {
  const bySource = new Map<string, Edge[]>();
  const byTarget = new Map<string, Edge[]>();
  const live = new Map<string, Edge>();
  const keyOf = (from: string, to: string): string => `${from} ${to}`;
  const addTo = (index: Map<string, Edge[]>, key: string, edge: Edge): void => {
    const edges = index.get(key);
    if (edges) edges.push(edge);
    else index.set(key, [edge]);
  };
  const shown = (edges: readonly Edge[] = []): Edge[] =>
    edges.filter(visibility.shows).toSorted((a, b) => compareIds(b.id, a.id));

  return {
    holds: (from, to) => live.get(keyOf(from, to)),
    shows: (from, to) =>
      (bySource.get(from) ?? []).some((edge) => edge.to === to && visibility.shows(edge)),
    add: (from, to, id, created) => {
      const edge: Edge = { from, to, id, created };
      live.set(keyOf(from, to), edge);
      addTo(bySource, from, edge);
      addTo(byTarget, to, edge);
      return edge;
    },
    remove: (from, to, deleted) => {
      const edge = live.get(keyOf(from, to));
      if (!edge) return undefined;
      live.delete(keyOf(from, to));
      edge.deleted = deleted;
      return edge;
    },
    of: (from) => shown(bySource.get(from)),
    to: (to) => shown(byTarget.get(to)),
    edges: () => live.values(),
  };
}

/** Copies all records into an empty world. */
export function copyWorld(from: World, to: World): void {
  for (const user of from.users.values()) to.addUser({ ...user });
  for (const post of [...from.newest()].toReversed()) to.addPost({ ...post });
  for (const [key, media] of from.media) to.media.set(key, { ...media });
  for (const [id, list] of from.lists) to.lists.set(id, { ...list });
  for (const name of relations)
    for (const edge of from[name].edges()) to[name].add(edge.from, edge.to, edge.id, edge.created);
}
