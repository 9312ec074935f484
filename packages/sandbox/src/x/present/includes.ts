import type { JsonObject } from '../../json.js';
import { notAuthorized, notFound } from '../problems.js';
import type { Media, Post, User } from '../world/records.js';
import { presentMedia, presentPoll, presentPost, presentUser } from './records.js';
import { inWords, type Shape } from './shape.js';
import { sightOfPost, type View } from './view.js';

/** What stands beside `data`: everything that an expansion names, once, and what of it is not there. */
export interface Includes {
  readonly includes: JsonObject | undefined;
  readonly errors: readonly JsonObject[];
}

interface Gathered {
  readonly users: Map<string, User>;
  readonly posts: Map<string, Post>;
  readonly media: Map<string, Media>;
  /** The posts that have one. */
  readonly polled: Set<Post>;
  readonly errors: Map<string, JsonObject>;
}

export function includesOf(posts: readonly Post[], view: View, shape: Shape): Includes {
  const gathered: Gathered = {
    users: new Map(),
    posts: new Map(),
    media: new Map(),
    polled: new Set(),
    errors: new Map(),
  };
  for (const post of posts) expand(post, view, shape, gathered);
  return presented(gathered, view, shape);
}

function expand(post: Post, view: View, { expansions }: Shape, gathered: Gathered): void {
  const { world } = view;
  const addUser = (id: string | undefined): void => {
    const user = id === undefined ? undefined : world.users.get(id);
    if (user && !user.suspended) gathered.users.set(user.id, user);
  };
  if (expansions.has('author_id')) addUser(post.authorId);
  if (expansions.has('in_reply_to_user_id')) addUser(post.inReplyToUserId);
  if (expansions.has('entities.mentions.username'))
    for (const { id } of post.entities.mentions ?? []) addUser(id);
  if (expansions.has('attachments.media_keys'))
    for (const key of post.mediaKeys) {
      const media = world.media.get(key);
      if (media) gathered.media.set(key, media);
    }
  if (expansions.has('attachments.poll_ids') && post.poll) gathered.polled.add(post);
  const byAuthor = expansions.has('referenced_tweets.id.author_id');
  if (!byAuthor && !expansions.has('referenced_tweets.id')) return;
  for (const { id } of post.references) {
    const referenced = world.posts.get(id);
    const sight = sightOfPost(view, referenced);
    if (sight === 'visible' && referenced) {
      gathered.posts.set(id, referenced);
      if (byAuthor) addUser(referenced.authorId);
    } else {
      const error = sight === 'protected' ? notAuthorized : notFound;
      gathered.errors.set(id, error('tweet', 'referenced_tweets.id', id));
    }
  }
}

/** The posts that users have pinned, or wrote last. */
export function pinnedBy(users: readonly User[], view: View, shape: Shape): Includes {
  const gathered: Gathered = {
    users: new Map(),
    posts: new Map(),
    media: new Map(),
    polled: new Set(),
    errors: new Map(),
  };
  for (const user of users) {
    const told = presentUser(user, view, shape);
    for (const name of ['pinned_tweet_id', 'most_recent_tweet_id']) {
      const id = told[name];
      if (!shape.expansions.has(name) || typeof id !== 'string') continue;
      const post = view.world.posts.get(id);
      if (post && sightOfPost(view, post) === 'visible') gathered.posts.set(id, post);
      else gathered.errors.set(id, notFound('tweet', name, id));
    }
  }
  return presented(gathered, view, shape);
}

function presented(gathered: Gathered, view: View, shape: Shape): Includes {
  const { users, posts, media, polled, errors } = gathered;
  const includes: JsonObject = {
    ...(users.size > 0 && {
      users: [...users.values()].map((user) => presentUser(user, view, shape)),
    }),
    ...(posts.size > 0 && {
      [inWords('tweets', shape.vocabulary)]: [...posts.values()].map((post) =>
        presentPost(post, view, shape),
      ),
    }),
    ...(media.size > 0 && { media: [...media.values()].map((one) => presentMedia(one, shape)) }),
    ...(polled.size > 0 && {
      polls: [...polled].flatMap((post) => presentPoll(post, view, shape)),
    }),
  };
  const isEmpty = Object.keys(includes).length === 0;
  return { includes: isEmpty ? undefined : includes, errors: [...errors.values()] };
}
