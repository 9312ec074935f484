import type { Entities } from '../text/entities.js';
import type { Lived } from './visibility.js';

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
