import type { Entities } from '../text/entities.js';
import type { Clock } from '../clock.js';

export interface User {
  readonly id: string;
  readonly username: string;
  readonly name: string;
  readonly createdAt: number;
  readonly description: string;
  readonly location?: string;
  readonly protected: boolean;
  readonly suspended: boolean;
  readonly verifiedType: 'blue' | 'none';
  /** Followers, posts and so on that are told but cannot be listed. */
  readonly unlisted: Readonly<Record<'followers' | 'following' | 'posts' | 'listed', number>>;
  pinnedPostId?: string;
}

export interface Reference {
  readonly type: 'replied_to' | 'quoted' | 'retweeted';
  readonly id: string;
}

export interface Post extends Lived {
  readonly id: string;
  readonly authorId: string;
  readonly createdAt: number;
  /** As its author sent it. */
  readonly sent: string;
  /** As it is read: with short links, escapes, the names that a reply begins with. */
  readonly text: string;
  readonly entities: Entities;
  /** All of a text that is too long for `text`. */
  readonly note?: { readonly text: string; readonly entities: Entities };
  readonly lang: string;
  readonly conversationId: string;
  readonly inReplyToUserId?: string;
  readonly references: readonly Reference[];
  readonly mediaKeys: readonly string[];
  readonly poll?: Poll;
  readonly replySettings: string;
  /** Those who saw it, and reactions that are told but cannot be listed. */
  readonly unlisted: Readonly<Record<'likes' | 'impressions', number>>;
  hidden: boolean;
}

/** Nobody votes here. */
export interface Poll {
  readonly id: string;
  readonly options: readonly string[];
  readonly durationMinutes: number;
}

export interface Media {
  readonly id: string;
  readonly key: string;
  readonly ownerId: string;
  readonly type: 'photo' | 'animated_gif' | 'video';
  readonly width: number;
  readonly height: number;
  readonly durationMs?: number;
  altText?: string;
}

export interface List extends Lived {
  readonly id: string;
  readonly ownerId: string;
  readonly createdAt: number;
  name: string;
  description: string;
  private: boolean;
}

export function referenceOf(post: Post, type: Reference['type']): string | undefined {
  return post.references.find((reference) => reference.type === type)?.id;
}

const EPOCH = 1_288_834_974_657n;
const SEQUENCE = 4096n;

/** An id that says when it was made: milliseconds since X's own epoch, then 22 bits to tell apart. */
export function snowflakeAt(ms: number, sequence = 0): string {
  return String(((BigInt(Math.trunc(ms)) - EPOCH) << 22n) | (BigInt(sequence) % SEQUENCE));
}

/** Ids that only ever grow, whatever the clock does. */
export function createSnowflakes(now: () => number): () => string {
  let [last, sequence] = [0, 0];
  return () => {
    const ms = Math.trunc(now());
    if (ms > last) [last, sequence] = [ms, 0];
    else sequence += 1;
    return snowflakeAt(last + Math.floor(sequence / Number(SEQUENCE)), sequence);
  };
}

/** Ids are too large for numbers, and the older ones are shorter. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

export function isId(text: string): boolean {
  return /^\d{1,19}$/.test(text);
}

/** When something was committed, and how long reads were to lag behind then. */
export interface Moment {
  readonly at: number;
  readonly lag: number;
}

/** What came into the world, and may have left it. */
export interface Lived {
  readonly made: Moment;
  gone?: Moment;
}

/** Writes see what is true, reads what they would on a replica that lags behind. */
export interface Visibility {
  readonly lag: () => number;
  readonly setLag: (ms: number) => void;
  readonly moment: () => Moment;
  readonly shows: (lived: Lived) => boolean;
}

export const LONG_AGO: Moment = { at: 0, lag: 0 };

export function createVisibility(clock: Clock): Visibility {
  let lag = 0;
  // A shorter lag heals at once; a longer one hides nothing that was shown before.
  const reached = (moment: Moment): boolean => clock.now() >= moment.at + Math.min(moment.lag, lag);
  return {
    lag: () => lag,
    setLag: (ms) => {
      lag = ms;
    },
    moment: () => ({ at: clock.now(), lag }),
    shows: ({ made, gone }) => reached(made) && !(gone && reached(gone)),
  };
}
