import { type Appended, compose } from '../text/compose.js';
import { weightedLength } from '../text/length.js';
import type { Media, CommitTime, Poll, Post, Reference } from './records.js';
import type { World } from './world.js';

export interface PostParts {
  readonly id: string;
  readonly authorId: string;
  readonly created: CommitTime;
  readonly text: string;
  /** The usernames that a reply begins with. */
  readonly leading?: readonly string[];
  readonly target?: Post | undefined;
  readonly quote?: Post | undefined;
  readonly media?: readonly Media[];
  readonly poll?: Poll | undefined;
  readonly lang?: string;
  readonly replySettings?: string;
  readonly unlisted?: Post['unlisted'];
}

/** Longer posts are truncated, and have a note with the full text. */
const MAX_VISIBLE_LENGTH = 280;

/** Creates a post with its text as X returns it. */
export function postFrom(world: World, parts: PostParts): Post {
  const { id, authorId, created, text, leading = [], target, quote, media = [] } = parts;
  const idOf = (name: string): string | undefined => world.userNamed(name)?.id;
  const isLong = weightedLength(text) > MAX_VISIBLE_LENGTH;
  const shown = isLong
    ? `${Array.from(text)
        .slice(0, MAX_VISIBLE_LENGTH - 30)
        .join('')}…`
    : text;
  const references: Reference[] = [
    ...(quote ? [{ type: 'quoted', id: quote.id } as const] : []),
    ...(target ? [{ type: 'replied_to', id: target.id } as const] : []),
  ];
  return {
    id,
    authorId,
    createdAt: created.at,
    created,
    sent: text,
    ...compose({ id, text: shown, leading, appended: appendedTo(world, parts) }, idOf),
    ...(isLong && { note: compose({ id, text, leading }, idOf) }),
    lang: parts.lang ?? 'en',
    conversationId: target?.conversationId ?? id,
    ...(target && { inReplyToUserId: target.authorId }),
    references,
    mediaKeys: media.map(({ key }) => key),
    ...(parts.poll && { poll: parts.poll }),
    replySettings: parts.replySettings ?? 'everyone',
    unlisted: parts.unlisted ?? { likes: 0, impressions: 1 },
  };
}

function appendedTo(world: World, { id, authorId, media = [], quote }: PostParts): Appended[] {
  const addressOf = (userId: string, postId: string): string =>
    `https://x.com/${world.users.get(userId)?.username ?? 'i'}/status/${postId}`;
  const pictures = media.map(({ key, type }, index) => ({
    expandedUrl: `${addressOf(authorId, id)}/${type === 'photo' ? 'photo' : 'video'}/${index + 1}`,
    mediaKey: key,
  }));
  return [
    ...(pictures.length > 0 ? [{ pictures }] : []),
    ...(quote ? [{ quoted: addressOf(quote.authorId, quote.id) }] : []),
  ];
}

/** A repost is a post that references the original. */
export function repostOf(
  world: World,
  original: Post,
  own: Pick<Post, 'id' | 'authorId' | 'created'>,
): Post {
  const author = world.users.get(original.authorId);
  const sent = `RT @${author?.username ?? ''}: ${original.sent}`;
  const { text, entities } = compose(
    { id: original.id, text: sent },
    (name) => world.userNamed(name)?.id,
  );
  return {
    ...own,
    createdAt: own.created.at,
    sent,
    text,
    entities,
    lang: original.lang,
    conversationId: own.id,
    references: [{ type: 'retweeted', id: original.id }],
    mediaKeys: original.mediaKeys,
    replySettings: 'everyone',
    unlisted: { likes: 0, impressions: 0 },
  };
}
