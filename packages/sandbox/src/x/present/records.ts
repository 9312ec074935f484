import type { Json, JsonObject } from '../../json.js';
import type { List, Media, Poll, Post, User } from '../world/records.js';
import { inWords, type Shape } from './shape.js';
import { sightOfPost, type View } from './view.js';

type PostField = (post: Post, view: View) => Json | undefined;

const EDITABLE_MS = 60 * 60_000;

const postFields: Readonly<Record<string, PostField>> = {
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
  non_public_metrics: (post, view) =>
    isOwn(post, view) ? { impression_count: post.unlisted.impressions } : undefined,
  organic_metrics: (post, view) =>
    isOwn(post, view) ? { impression_count: post.unlisted.impressions } : undefined,
};

/** Nothing rather than something empty. */
function entitiesOf({ entities }: Pick<Post, 'entities'>): { readonly entities?: JsonObject } {
  return Object.keys(entities).length > 0 ? { entities: entities as JsonObject } : {};
}

/** Numbers that only the author may see. */
const OWN = ['non_public_metrics', 'organic_metrics', 'promoted_metrics'];

const isOwn = (post: Post, { viewerId }: View): boolean => post.authorId === viewerId;

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

/** What was asked for, and what an expansion needs to find its way. */
export function presentPost(post: Post, view: View, shape: Shape): JsonObject {
  const wanted = new Set(shape.post);
  for (const [expansion, field] of Object.entries(neededBy))
    if (shape.expansions.has(expansion)) wanted.add(field);
  const told: Record<string, Json> = {};
  for (const name of wanted) {
    const value = postFields[name]?.(post, view);
    if (value !== undefined) told[inWords(name, shape.vocabulary)] = renamed(value, shape);
  }
  return told;
}

function renamed(value: Json, { vocabulary }: Shape): Json {
  if (vocabulary === 'tweet' || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value as Json;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [inWords(name, vocabulary), inner ?? null]),
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

/** Which of the wanted fields the viewer may not have of this post. */
export function withheldFields(post: Post, view: View, shape: Shape): string[] {
  return isOwn(post, view) ? [] : OWN.filter((name) => shape.post.has(name));
}

type UserField = (user: User, view: View) => Json | undefined;

const userFields: Readonly<Record<string, UserField>> = {
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
  most_recent_tweet_id: ({ id }, view) => newestOf(id, view),
  public_metrics: (user, view) => userMetrics(user, view),
};

function newestOf(userId: string, view: View): string | undefined {
  return view.world.postsBy(userId).findLast((post) => sightOfPost(view, post) === 'visible')?.id;
}

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
  const wanted = new Set(shape.user);
  for (const name of ['pinned_tweet_id', 'most_recent_tweet_id'])
    if (shape.expansions.has(name)) wanted.add(name);
  const told: Record<string, Json> = {};
  for (const name of wanted) {
    const value = userFields[name]?.(user, view);
    if (value !== undefined) told[name] = value;
  }
  return told;
}

type ListField = (list: List, view: View) => Json;

const listFields: Readonly<Record<string, ListField>> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  created_at: ({ createdAt }) => instant(createdAt),
  description: ({ description }) => description,
  owner_id: ({ ownerId }) => ownerId,
  private: (list) => list.private,
  follower_count: ({ id }, { world }) => world.followedLists.to(id).length,
  member_count: ({ id }, { world }) => world.members.of(id).length,
};

export function presentList(list: List, view: View, shape: Shape): JsonObject {
  const wanted = new Set(shape.list);
  if (shape.expansions.has('owner_id')) wanted.add('owner_id');
  return Object.fromEntries(
    [...wanted].flatMap((name) => {
      const value = listFields[name]?.(list, view);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

type MediaField = (media: Media) => Json | undefined;

const picture = ({ key }: Media): string => `https://pbs.twimg.com/media/${key}.jpg`;

const mediaFields: Readonly<Record<string, MediaField>> = {
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
  return Object.fromEntries(
    [...shape.media].flatMap((name) => {
      const value = mediaFields[name]?.(media);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

type PollField = (poll: Poll, ends: number, now: number) => Json;

const pollFields: Readonly<Record<string, PollField>> = {
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
  const told = [...shape.poll].flatMap((name) => {
    const value = pollFields[name]?.(poll, ends, world.clock.now());
    return value === undefined ? [] : [[name, value] as const];
  });
  return [Object.fromEntries(told)];
}

/** As X writes times: to the second, with milliseconds that are always zero. */
function instant(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString();
}
