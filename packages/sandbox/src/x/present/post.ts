import type { Json, JsonObject } from '../../json.js';
import type { Post } from '../world/things.js';
import { instant } from './instant.js';
import type { Shape } from './shape.js';
import type { View } from './view.js';
import { inWords } from './vocabulary.js';

type Field = (post: Post, view: View) => Json | undefined;

const EDITABLE_MS = 60 * 60_000;

const fields: Readonly<Record<string, Field>> = {
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
  public_metrics: (post, view) => publicMetrics(post, view),
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

function publicMetrics({ id, unlisted }: Post, { world }: View): JsonObject {
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
    const value = fields[name]?.(post, view);
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
