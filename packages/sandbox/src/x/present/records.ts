import type { Json, JsonObject } from '../../json.js';
import type { List, Media, Poll, Post, User } from '../world/records.js';
import { nameIn, type Shape } from './shape.js';
import type { View } from './view.js';

type Fields<Args extends readonly unknown[]> = Readonly<
  Record<string, (...args: Args) => Json | undefined>
>;

/** The wanted fields that have a value. */
function select<Args extends readonly unknown[]>(
  fields: Fields<Args>,
  wanted: Iterable<string>,
  ...args: Args
): Record<string, Json> {
  const selected: Record<string, Json> = {};
  for (const name of wanted) {
    const value = fields[name]?.(...args);
    if (value !== undefined) selected[name] = value;
  }
  return selected;
}

const EDITABLE_MS = 60 * 60_000;

const postFields: Fields<[Post, View]> = {
  id: ({ id }) => id,
  text: ({ text }) => text,
  edit_history_tweet_ids: ({ id }) => [id],
  author_id: ({ authorId }) => authorId,
  created_at: ({ createdAt }) => instant(createdAt),
  conversation_id: ({ conversationId }) => conversationId,
  in_reply_to_user_id: ({ inReplyToUserId }) => inReplyToUserId,
  lang: ({ lang }) => lang,
  possibly_sensitive: () => false,
  reply_settings: ({ replySettings }) => replySettings,
  referenced_tweets: ({ references }) =>
    references.length > 0 ? references.map(({ type, id }) => ({ type, id })) : undefined,
  attachments: ({ mediaKeys, poll }) => {
    if (poll) return { poll_ids: [poll.id] };
    return mediaKeys.length > 0 ? { media_keys: mediaKeys } : undefined;
  },
  entities: (post) => entitiesOf(post).entities,
  note_tweet: ({ note }) => note && { text: note.text, ...entitiesOf(note) },
  display_text_range: ({ text }) => [0, Array.from(text).length],
  edit_controls: ({ createdAt }, { world }) => ({
    edits_remaining: 5,
    is_edit_eligible: world.clock.now() < createdAt + EDITABLE_MS,
    editable_until: instant(createdAt + EDITABLE_MS),
  }),
  public_metrics: (post, view) => postMetrics(post, view),
};

/** Omits empty entities. */
function entitiesOf({ entities }: Pick<Post, 'entities'>): { readonly entities?: JsonObject } {
  return Object.keys(entities).length > 0 ? { entities: entities as JsonObject } : {};
}

function postMetrics({ id, unlisted }: Post, { world }: View): JsonObject {
  const shown = (posts: readonly Post[]): number => posts.filter(world.visibility.shows).length;
  return {
    retweet_count: world.retweets.to(id).length,
    reply_count: shown(world.repliesTo(id)),
    like_count: world.likes.to(id).length + unlisted.likes,
    quote_count: shown(world.quotesOf(id)),
    bookmark_count: world.bookmarks.to(id).length,
    impression_count: unlisted.impressions,
  };
}

/** The requested fields, and those that the expansions refer to. */
export function presentPost(post: Post, view: View, shape: Shape): JsonObject {
  const wanted = new Set(shape.post);
  for (const [expansion, field] of Object.entries(neededBy))
    if (shape.expansions.has(expansion)) wanted.add(field);
  return Object.fromEntries(
    Object.entries(select(postFields, wanted, post, view)).map(([name, value]) => [
      nameIn(name, shape.naming),
      renamed(value, shape),
    ]),
  );
}

function renamed(value: Json, { naming }: Shape): Json {
  if (naming === 'tweet' || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value as Json;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [nameIn(name, naming), inner ?? null]),
  );
}

const neededBy: Readonly<Record<string, string>> = {
  author_id: 'author_id',
  in_reply_to_user_id: 'in_reply_to_user_id',
  'referenced_tweets.id': 'referenced_tweets',
  'referenced_tweets.id.author_id': 'referenced_tweets',
  'attachments.media_keys': 'attachments',
  'attachments.poll_ids': 'attachments',
  'entities.mentions.username': 'entities',
};

const userFields: Fields<[User, View]> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  username: ({ username }) => username,
  created_at: ({ createdAt }) => instant(createdAt),
  description: ({ description }) => description,
  location: ({ location }) => location,
  protected: (user) => user.protected,
  verified: ({ verifiedType }) => verifiedType !== 'none',
  verified_type: ({ verifiedType }) => verifiedType,
  url: () => '',
  profile_image_url: ({ id }) => `https://pbs.twimg.com/profile_images/${id}/sandbox_normal.png`,
  pinned_tweet_id: ({ pinnedPostId }) => pinnedPostId,
  public_metrics: (user, view) => userMetrics(user, view),
};

function userMetrics({ id, unlisted }: User, { world }: View): JsonObject {
  return {
    followers_count: world.follows.to(id).length + unlisted.followers,
    following_count: world.follows.of(id).length + unlisted.following,
    tweet_count: world.postsBy(id).filter(world.visibility.shows).length + unlisted.posts,
    listed_count: world.members.to(id).length + unlisted.listed,
    like_count: world.likes.of(id).length,
    media_count: 0,
  };
}

export function presentUser(user: User, view: View, shape: Shape): JsonObject {
  return select(userFields, shape.user, user, view);
}

const listFields: Fields<[List, View]> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  created_at: ({ createdAt }) => instant(createdAt),
  description: ({ description }) => description,
  owner_id: ({ ownerId }) => ownerId,
  private: (list) => list.private,
  follower_count: () => 0,
  member_count: ({ id }, { world }) => world.members.of(id).length,
};

export function presentList(list: List, view: View, shape: Shape): JsonObject {
  return select(listFields, shape.list, list, view);
}

const picture = ({ key }: Media): string => `https://pbs.twimg.com/media/${key}.jpg`;

const mediaFields: Fields<[Media]> = {
  media_key: ({ key }) => key,
  type: ({ type }) => type,
  width: ({ width }) => width,
  height: ({ height }) => height,
  alt_text: ({ altText }) => altText,
  duration_ms: ({ durationMs }) => durationMs,
  url: (media) => (media.type === 'photo' ? picture(media) : undefined),
  preview_image_url: (media) => (media.type === 'photo' ? undefined : picture(media)),
  public_metrics: ({ type }) => (type === 'video' ? { view_count: 0 } : undefined),
};

export function presentMedia(media: Media, shape: Shape): JsonObject {
  return select(mediaFields, shape.media, media);
}

const pollFields: Fields<[poll: Poll, ends: number, now: number]> = {
  id: ({ id }) => id,
  options: ({ options }) =>
    options.map((label, index) => ({ position: index + 1, label, votes: 0 })),
  duration_minutes: ({ durationMinutes }) => durationMinutes,
  end_datetime: (_, ends) => instant(ends),
  voting_status: (_, ends, now) => (now < ends ? 'open' : 'closed'),
};

export function presentPoll(
  { poll, createdAt }: Post,
  { world }: View,
  shape: Shape,
): JsonObject[] {
  if (!poll) return [];
  const ends = createdAt + poll.durationMinutes * 60_000;
  return [select(pollFields, shape.poll, poll, ends, world.clock.now())];
}

/** X's time format: whole seconds, with zero milliseconds. */
function instant(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString();
}
