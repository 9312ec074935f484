import type { JsonObject } from '../../json.js';
import { notAuthorized, notFound } from '../problems.js';
import type { Media, Post, User } from '../world/records.js';
import { presentMedia, presentPoll, presentPost, presentUser } from './records.js';
import { nameIn, type Shape } from './shape.js';
import { postAccess, type View } from './view.js';

/** The expanded records, each once, and errors for those that are unavailable. */
export interface Includes {
  readonly includes: JsonObject | undefined;
  readonly errors: readonly JsonObject[];
}

interface Gathered {
  readonly users: Map<string, User>;
  readonly posts: Map<string, Post>;
  readonly media: Map<string, Media>;
  /** The posts with a poll. */
  readonly polled: Set<Post>;
  readonly errors: Map<string, JsonObject>;
}

const emptyIncludes = (): Gathered => ({
  users: new Map(),
  posts: new Map(),
  media: new Map(),
  polled: new Set(),
  errors: new Map(),
});

export function includesOf(posts: readonly Post[], view: View, shape: Shape): Includes {
  const gathered = emptyIncludes();
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
    const access = postAccess(view, referenced);
    if (access === 'visible' && referenced) {
      gathered.posts.set(id, referenced);
      if (byAuthor) addUser(referenced.authorId);
    } else {
      const error = access === 'protected' ? notAuthorized : notFound;
      gathered.errors.set(id, error('tweet', 'referenced_tweets.id', id));
    }
  }
}

function presented(gathered: Gathered, view: View, shape: Shape): Includes {
  const { users, posts, media, polled, errors } = gathered;
  const includes: JsonObject = {
    ...(users.size > 0 && {
      users: [...users.values()].map((user) => presentUser(user, view, shape)),
    }),
    ...(posts.size > 0 && {
      [nameIn('tweets', shape.naming)]: [...posts.values()].map((post) =>
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
