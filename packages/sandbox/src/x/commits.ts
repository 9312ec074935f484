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
  | { readonly kind: 'reply.hidden' | 'reply.shown'; readonly id: string }
  | { readonly kind: 'list.created' | 'list.updated' | 'list.deleted'; readonly id: string }
  | {
      readonly kind: 'member.added' | 'member.removed';
      readonly list: string;
      readonly user: string;
    }
  | {
      readonly kind: 'media.initialized' | 'media.finalized' | 'media.described';
      readonly id: string;
    }
  | { readonly kind: 'media.appended'; readonly id: string; readonly segment: number }
  | {
      readonly kind: 'token.issued';
      readonly grant: 'authorization_code' | 'refresh_token' | 'client_credentials';
    }
  | { readonly kind: 'token.revoked' };

interface CommitMetadata {
  /** The position in the commit log, from 1. */
  readonly seq: number;
  /** The time by the upstream's clock. */
  readonly at: number;
  /** The id of the request in the request log. */
  readonly request: number;
  /** The user's id, or an app's client id. */
  readonly account: string;
}

export type Commit = Act & CommitMetadata;

export interface CommitQuery {
  /** Only commits after this `seq`. */
  readonly after?: number;
  readonly kind?: Act['kind'];
}

export interface CommitLog {
  readonly append: (act: Act, by: Omit<CommitMetadata, 'seq'>) => Commit;
  readonly entries: (query?: CommitQuery) => Commit[];
}

/** Creates an append-only log. */
export function createCommits(): CommitLog {
  const commits: Commit[] = [];
  return {
    append: (act, by) => {
      const commit: Commit = Object.freeze({ ...act, ...by, seq: commits.length + 1 });
      commits.push(commit);
      return commit;
    },
    entries: ({ after = 0, kind } = {}) =>
      commits.slice(after).filter((commit) => kind === undefined || commit.kind === kind),
  };
}
