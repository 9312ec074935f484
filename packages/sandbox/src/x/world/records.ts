import type { Entities } from '../text/entities.js';
import type { Clock } from '../../server/clock.js';

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
  /** Counts beyond the records that can be listed. */
  readonly unlisted: Readonly<Record<'followers' | 'following' | 'posts' | 'listed', number>>;
  pinnedPostId?: string;
}

export interface Reference {
  readonly type: 'replied_to' | 'quoted' | 'retweeted';
  readonly id: string;
}

export interface Post extends Lifecycle {
  readonly id: string;
  readonly authorId: string;
  readonly createdAt: number;
  /** The text as submitted. */
  readonly sent: string;
  /** The text as returned, with short links, escapes and leading mentions. */
  readonly text: string;
  readonly entities: Entities;
  /** The full text of a long post. */
  readonly note?: { readonly text: string; readonly entities: Entities };
  readonly lang: string;
  readonly conversationId: string;
  readonly inReplyToUserId?: string;
  readonly references: readonly Reference[];
  readonly mediaKeys: readonly string[];
  readonly poll?: Poll;
  readonly replySettings: string;
  /** Impressions, and likes beyond those that can be listed. */
  readonly unlisted: Readonly<Record<'likes' | 'impressions', number>>;
}

/** A poll without votes. */
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

export interface List extends Lifecycle {
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

/** A snowflake id: milliseconds since X's epoch, and 22 bits for the sequence. */
export function snowflakeAt(ms: number, sequence = 0): string {
  return String(((BigInt(Math.trunc(ms)) - EPOCH) << 22n) | (BigInt(sequence) % SEQUENCE));
}

/** Generates strictly increasing ids. */
export function createSnowflakes(now: () => number): () => string {
  let [last, sequence] = [0, 0];
  return () => {
    const ms = Math.trunc(now());
    if (ms > last) [last, sequence] = [ms, 0];
    else sequence += 1;
    return snowflakeAt(last + Math.floor(sequence / Number(SEQUENCE)), sequence);
  };
}

/** Compares ids numerically; they exceed safe integers. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

export function isId(text: string): boolean {
  return /^\d{1,19}$/.test(text);
}

/** The time of a commit, and the read lag at that time. */
export interface CommitTime {
  readonly at: number;
  readonly lag: number;
}

/** A record's creation and deletion. */
export interface Lifecycle {
  readonly created: CommitTime;
  deleted?: CommitTime;
}

export const LONG_AGO: CommitTime = { at: 0, lag: 0 };

export type Visibility = ReturnType<typeof createVisibility>;

/** Writes see committed state; reads see a replica that lags behind. */
export function createVisibility(clock: Clock) {
  let lag = 0;
  // A shorter lag takes effect at once; a longer one does not hide records already shown.
  const reached = (commitTime: CommitTime): boolean =>
    clock.now() >= commitTime.at + Math.min(commitTime.lag, lag);
  return {
    lag: () => lag,
    setLag: (ms: number): void => {
      lag = ms;
    },
    commitTime: (): CommitTime => ({ at: clock.now(), lag }),
    shows: ({ created, deleted }: Lifecycle): boolean =>
      reached(created) && !(deleted && reached(deleted)),
  };
}
