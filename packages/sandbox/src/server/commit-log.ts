import { UsageError } from '../faults/rules.js';

interface CommitMetadata {
  /** The position in the commit log, from 1. */
  readonly seq: number;
  /** The time by the upstream's clock. */
  readonly at: number;
  /** The id of the request in the request log. */
  readonly request: number;
  /** The id of the user or app that acted. */
  readonly account: string;
}

export type CommitOf<Act> = Act & CommitMetadata;

export interface QueryOf<Kind> {
  /** Only commits after this `seq`. */
  readonly after?: number;
  readonly kind?: Kind;
}

export type CommitLog<Act extends { readonly kind: string }> = ReturnType<
  typeof createCommits<Act>
>;

/** The ground truth: every state change of an upstream, in order. Append-only. */
export function createCommits<Act extends { readonly kind: string }>() {
  const commits: CommitOf<Act>[] = [];
  return {
    append: (act: Act, by: Omit<CommitMetadata, 'seq'>): CommitOf<Act> => {
      const commit: CommitOf<Act> = Object.freeze({ ...act, ...by, seq: commits.length + 1 });
      commits.push(commit);
      return commit;
    },
    entries: ({ after = 0, kind }: QueryOf<Act['kind']> = {}) =>
      commits.slice(after).filter((commit) => kind === undefined || commit.kind === kind),
  };
}

/** Reads the query of the control endpoint's `/commits`. */
export function commitQuery<Kind extends string>({
  after,
  kind,
  ...rest
}: Readonly<Record<string, string>>): QueryOf<Kind> {
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new UsageError(`"${unknown}" is neither after nor kind`);
  if (after !== undefined && !/^\d{1,9}$/.test(after))
    throw new UsageError(`after "${after}" is not a number`);
  return {
    ...(after !== undefined && { after: Number(after) }),
    ...(kind !== undefined && { kind: kind as Kind }),
  };
}
