import type { CommitOf, QueryOf } from '../server/commit-log.js';

/** A state change of the upstream, as recorded in its commit log. */
export type Act =
  | {
      readonly kind: 'post.created';
      readonly id: string;
      /** The text as submitted. */
      readonly text: string;
      readonly media: readonly string[];
      readonly reply_to?: string;
      readonly quote_of?: string;
      /** The options as submitted. */
      readonly poll?: readonly string[];
    }
  | { readonly kind: 'post.deleted'; readonly id: string }
  | {
      readonly kind: 'like.created' | 'like.deleted' | 'bookmark.created' | 'bookmark.deleted';
      readonly post: string;
    }
  | {
      readonly kind: 'repost.created' | 'repost.deleted';
      readonly post: string;
      readonly id: string;
    }
  | { readonly kind: 'follow.created' | 'follow.deleted'; readonly user: string }
  | {
      readonly kind: 'media.initialized' | 'media.finalized' | 'media.described';
      readonly id: string;
    }
  | { readonly kind: 'media.appended'; readonly id: string; readonly segment: number }
  | { readonly kind: 'token.issued'; readonly grant: 'authorization_code' | 'refresh_token' };

export type Commit = CommitOf<Act>;
export type CommitQuery = QueryOf<Act['kind']>;
