import * as z from 'zod';
import { forbidden, invalid, rejection } from '../problems.js';
import { findEntities } from '../text/entities.js';
import { weightedLength } from '../text/length.js';
import { postFrom } from '../world/compose-post.js';
import { type Media, type Poll, type Post, referenceOf } from '../world/records.js';
import { bodyIn, idSchema } from './input.js';
import { type Call, commit, type Handler, visiblePost, targetPost, userOf } from './call.js';
import type { World } from '../world/world.js';
import type { Clock } from '../../server/clock.js';

const bodySchema = z.strictObject({
  text: z.exactOptional(z.string()),
  reply: z.exactOptional(
    z.strictObject({
      in_reply_to_tweet_id: idSchema,
      exclude_reply_user_ids: z.exactOptional(z.array(idSchema)),
      auto_populate_reply_metadata: z.exactOptional(z.boolean()),
    }),
  ),
  quote_tweet_id: z.exactOptional(idSchema),
  media: z.exactOptional(
    z.strictObject({
      media_ids: z.array(idSchema).min(1).max(4),
      tagged_user_ids: z.exactOptional(z.array(idSchema).max(10)),
    }),
  ),
  poll: z.exactOptional(
    z.strictObject({
      options: z.array(z.string().min(1).max(25)).min(2).max(4),
      duration_minutes: z.int().min(5).max(10_080),
    }),
  ),
  reply_settings: z.exactOptional(
    z.enum(['following', 'mentionedUsers', 'subscribers', 'verified']),
  ),
  community_id: z.exactOptional(idSchema),
  share_with_followers: z.exactOptional(z.boolean()),
  for_super_followers_only: z.exactOptional(z.boolean()),
  nullcast: z.exactOptional(z.boolean()),
  paid_partnership: z.exactOptional(z.boolean()),
  made_with_ai: z.exactOptional(z.boolean()),
});

type Body = z.infer<typeof bodySchema>;

/** Rejects longer texts without computing their weight. */
const MAX_TEXT_LENGTH = 30_000;

function checkedText({ maxPostLength, names, tier }: Call, { text = '', media }: Body): string {
  const clean = text.normalize('NFC').trim();
  if (clean === '' && !media) throw invalid('Your post must have text or media.', { text: [text] });
  if (clean.length > MAX_TEXT_LENGTH || weightedLength(clean) > maxPostLength)
    throw rejection('x-403-not-permitted', names);
  const cashtags = findEntities(clean).filter(({ kind }) => kind === 'cashtag').length;
  if (cashtags > 1 && tier() === 'self_serve') throw rejection('x-403-not-permitted', names);
  return clean;
}

function repliedTo(call: Call, { reply }: Body): Post | undefined {
  if (!reply) return undefined;
  const target = targetPost(call, reply.in_reply_to_tweet_id);
  if (!target)
    throw forbidden('You attempted to reply to a Tweet that is deleted or not visible to you.');
  if (call.tier() === 'self_serve' && !mayReply(call.world, userOf(call), target))
    throw rejection('x-403-reply-not-allowed', call.names);
  return target;
}

function quoted(call: Call, { quote_tweet_id: id }: Body): Post | undefined {
  if (id === undefined) return undefined;
  if (call.tier() === 'self_serve') throw rejection('x-403-not-permitted', call.names);
  return visiblePost(call, id, 'quote_tweet_id');
}

/** A poll cannot be combined with media or a quote. */
function polled({ world }: Call, { poll, media, quote_tweet_id: quote }: Body): Poll | undefined {
  if (!poll) return undefined;
  if (media || quote !== undefined)
    throw invalid('A poll, media and a quote exclude each other.', { poll: poll.options });
  const options = poll.options.map((label) => label.normalize('NFC'));
  return { id: world.newId(), options, durationMinutes: poll.duration_minutes };
}

/** Up to four photos, or one other attachment; processed, and owned by the author. */
function attached(call: Call, { media }: Body): Media[] {
  const ids = media?.media_ids ?? [];
  const uploads = ids.flatMap((id) => call.uploads.of(id, userOf(call)) ?? []);
  const types = new Set(uploads.map((upload) => upload.media.type));
  const isMixed = uploads.length > 1 && (types.size > 1 || !types.has('photo'));
  if (uploads.length < ids.length || isMixed || !uploads.every(call.uploads.isReady))
    throw invalid('Your media IDs are invalid.', { 'media.media_ids': ids });
  return uploads.map((upload) => upload.media);
}

export const createPost: Handler = async (call) => {
  const { world, duplicates } = call;
  const own = userOf(call);
  const body = await bodyIn(call.request, bodySchema);
  const text = checkedText(call, body);
  const poll = polled(call, body);
  const target = repliedTo(call, body);
  const quote = quoted(call, body);
  const media = attached(call, body);
  const content = JSON.stringify([text, target?.id, quote?.id, body.media?.media_ids, body.poll]);
  if (duplicates.has(own, content)) throw rejection('x-403-duplicate', call.names);

  const id = world.newId();
  const leading = target
    ? addressees(world, own, target, text, body.reply?.exclude_reply_user_ids)
    : [];
  const post = postFrom(world, {
    id,
    authorId: own,
    created: world.visibility.commitTime(),
    text,
    leading,
    target,
    quote,
    media,
    poll,
    replySettings: body.reply_settings ?? 'everyone',
  });
  world.addPost(post);
  for (const one of media) world.media.set(one.key, one);
  duplicates.remember(own, content);
  commit(call, {
    kind: 'post.created',
    id,
    text: body.text ?? '',
    media: body.media?.media_ids ?? [],
    ...(target && { reply_to: target.id }),
    ...(quote && { quote_of: quote.id }),
    ...(body.poll && { poll: body.poll.options }),
  });
  const hasLink = findEntities(text).some(({ kind }) => kind === 'url');
  return {
    status: 201,
    body: { data: { id, text: post.text, edit_history_tweet_ids: [id] } },
    charges: [[hasLink ? 'post-with-link' : target ? 'reply' : 'post', 1]],
  };
};

/**
 * The self-serve tier may reply to its own posts, and to posts that mention or quote the user.
 */
function mayReply(world: World, userId: string, target: Post): boolean {
  if (target.authorId === userId) return true;
  if (target.entities.mentions?.some(({ id }) => id === userId)) return true;
  const quotedId = referenceOf(target, 'quoted');
  return quotedId !== undefined && world.posts.get(quotedId)?.authorId === userId;
}

/** The usernames that a reply addresses: the author and those mentioned, without the replying user. */
export function addressees(
  world: World,
  userId: string,
  target: Post,
  text: string,
  excluded: readonly string[] = [],
): string[] {
  const participants = [target.authorId, ...(target.entities.mentions ?? []).map(({ id }) => id)];
  const wanted = new Set(participants.filter((id) => id !== userId && !excluded.includes(id)));
  const already = new Set(leadingNames(text));
  return [...wanted]
    .map((id) => world.users.get(id)?.username ?? '')
    .filter((name) => name !== '' && !already.has(name.toLowerCase()));
}

/** The mentions that a text begins with. */
function leadingNames(text: string): string[] {
  const names: string[] = [];
  let at = 0;
  for (const { kind, start, end, value } of findEntities(text)) {
    if (kind !== 'mention' || text.slice(at, start).trim() !== '') break;
    names.push(value.toLowerCase());
    at = end;
  }
  return names;
}

/** The recent posts of users, including deleted ones. X does not document the length of the window. */
export function createDuplicateWindow(clock: Clock, windowMs: number) {
  const posted = new Map<string, number>();
  const keyOf = (userId: string, content: string): string => `${userId} ${content}`;
  return {
    has: (userId: string, content: string): boolean => {
      const at = posted.get(keyOf(userId, content));
      return at !== undefined && clock.now() - at < windowMs;
    },
    remember: (userId: string, content: string): void => {
      posted.set(keyOf(userId, content), clock.now());
    },
  };
}
