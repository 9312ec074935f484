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

export type World = ReturnType<typeof createWorld>;

/** All records of the upstream. Deleted records are kept and marked. */
export function createWorld(clock: Clock) {
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
    users: users as ReadonlyMap<string, User>,
    userNamed: (username: string) => usersByName.get(username.toLowerCase()),
    addUser: (user: User): void => {
      users.set(user.id, user);
      usersByName.set(user.username.toLowerCase(), user);
    },
    posts: posts as ReadonlyMap<string, Post>,
    addPost: (post: Post): void => {
      posts.set(post.id, post);
      let at = inOrder.length;
      while (at > 0 && compareIds(inOrder[at - 1]?.id ?? '', post.id) > 0) at -= 1;
      inOrder.splice(at, 0, post);
      addTo(byAuthor, post.authorId, post);
      addTo(replies, referenceOf(post, 'replied_to'), post);
      addTo(quotes, referenceOf(post, 'quoted'), post);
    },
    /** Newest first. */
    newest: function* newest() {
      for (let at = inOrder.length - 1; at >= 0; at -= 1) {
        const post = inOrder[at];
        if (post) yield post;
      }
    },
    postsBy: (userId: string): readonly Post[] => byAuthor.get(userId) ?? [],
    repliesTo: (id: string): readonly Post[] => replies.get(id) ?? [],
    quotesOf: (id: string): readonly Post[] => quotes.get(id) ?? [],
    media: new Map<string, Media>(),
    lists: new Map<string, List>(),
  };
}

/** A like, follow, repost, bookmark or membership. Repeating it after removal adds a new edge. */
export interface Edge extends Lifecycle {
  readonly from: string;
  readonly to: string;
  /** Increases with time; lists are sorted by it. */
  readonly id: string;
}

type Relation = ReturnType<typeof createRelation>;

export function createRelation(visibility: Visibility) {
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
    /** The current edge, visible to reads or not. */
    holds: (from: string, to: string) => live.get(keyOf(from, to)),
    /** Whether reads show the edge. */
    shows: (from: string, to: string) =>
      (bySource.get(from) ?? []).some((edge) => edge.to === to && visibility.shows(edge)),
    add: (from: string, to: string, id: string, created: CommitTime): Edge => {
      const edge: Edge = { from, to, id, created };
      live.set(keyOf(from, to), edge);
      addTo(bySource, from, edge);
      addTo(byTarget, to, edge);
      return edge;
    },
    remove: (from: string, to: string, deleted: CommitTime): Edge | undefined => {
      const edge = live.get(keyOf(from, to));
      if (!edge) return undefined;
      live.delete(keyOf(from, to));
      edge.deleted = deleted;
      return edge;
    },
    /** The edges that reads show, newest first. */
    of: (from: string) => shown(bySource.get(from)),
    to: (to: string) => shown(byTarget.get(to)),
    /** All current edges, in order of creation. */
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
