import { page } from '@toolkeel/contract';
import { compact, type CallContext } from '@toolkeel/pack-kit';
import { documented, itemsIn } from '../client/document.js';
import { rateLimitOf, repoOf, type Kit } from './kit.js';
import { bodyOf } from './present.js';
import type { PageCursor } from './specs/index.js';

const COMMENTS = `{
  totalCount
  pageInfo { hasNextPage endCursor }
  nodes { databaseId author { login } body createdAt }
}`;

const THREADS = `query($owner: String!, $repo: String!, $number: Int!, $first: Int!, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviewThreads(first: $first, after: $after) {
        pageInfo { hasNextPage }
        edges { cursor node { id isResolved isOutdated path line comments(first: 50) ${COMMENTS} } }
      }
    }
  }
}`;

const MORE_COMMENTS = `query($id: ID!, $after: String) {
  node(id: $id) { ... on PullRequestReviewThread { comments(first: 100, after: $after) ${COMMENTS} } }
}`;

interface Comments {
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly {
    readonly databaseId: number;
    readonly author: { readonly login: string } | null;
    readonly body: string;
    readonly createdAt: string;
  }[];
}

interface Thread {
  readonly id: string;
  readonly isResolved: boolean;
  readonly isOutdated: boolean;
  readonly path: string;
  readonly line: number | null;
  readonly comments: Comments;
}

interface ThreadsData {
  readonly repository: {
    readonly pullRequest: {
      readonly reviewThreads: {
        readonly pageInfo: { readonly hasNextPage: boolean };
        readonly edges: readonly { readonly cursor: string; readonly node: Thread }[];
      };
    } | null;
  } | null;
}

/** Of one entry, so that several fit an answer. */
const MAX_ENTRY = 12_000;
const MAX_COMMENT = 4_000;
/** More than an answer; the rest comes with the next page. */
const MAX_PAGE = 64_000;
/** More than the pages of comments of any thread. */
const MAX_LOADS = 50;

/**
 * A page of threads. One with many comments comes as several entries, so that no thread is larger than an
 * answer. A cursor is the place after a thread (`u`), and the comments of the next one that were shown (`k`).
 */
export async function threadsPage(
  kit: Kit,
  args: { readonly repo: string; readonly number: number; readonly limit: number },
  call: CallContext,
  cursor: PageCursor | undefined,
): Promise<never> {
  const { client } = kit;
  const start = cursor ?? { u: '' };
  const url = client.graphqlUrl;
  const after = start.u === '' ? null : start.u;
  const variables = { ...repoOf(args.repo), number: args.number, first: args.limit, after };
  const { data, errors } = await client.graphql<ThreadsData>(THREADS, variables, call);
  const found = data.repository?.pullRequest?.reviewThreads;
  if (!found) throw client.graphqlError(errors);
  const hasNextPage = documented({ data: found, url }, ({ pageInfo }) => pageInfo.hasNextPage);
  const edges = itemsIn({ data: found.edges, url }) as typeof found.edges;
  const entries: object[] = [];
  /** Where the page continues after each entry. */
  const places: PageCursor[] = [];
  let { u, k: skip = 0 }: PageCursor = start;
  let isCut = false;
  for (const edge of edges) {
    isCut = bytesOf(entries) > MAX_PAGE;
    if (isCut) break;
    const { node } = edge;
    const comments = await commentsOf(kit, node, call);
    const parts = partsOf(comments.slice(skip));
    for (const [index, part] of parts.entries()) {
      const isWhole = part.length === comments.length;
      entries.push({
        ...documented({ data: node, url }, threadOf),
        ...(!isWhole && { total_comments: node.comments.totalCount, first_comment: skip + 1 }),
        comments: part,
      });
      skip += part.length;
      places.push(index === parts.length - 1 ? { u: edge.cursor } : { u, k: skip });
    }
    [u, skip] = [edge.cursor, 0];
  }
  return page(
    { entries },
    {
      next: isCut || hasNextPage ? places.at(-1) : undefined,
      after: (kept: number) => places[kept - 1] ?? start,
      rateLimit: rateLimitOf(kit, 'graphql'),
    },
  ) as never;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** All comments of a thread. */
async function commentsOf({ client }: Kit, { id, comments }: Thread, call: CallContext) {
  const url = client.graphqlUrl;
  const all = [];
  let loaded = comments;
  for (let loads = 1; ; loads += 1) {
    all.push(
      ...documented({ data: loaded, url }, ({ nodes }) =>
        nodes.map((comment) => ({
          comment_id: comment.databaseId,
          author: comment.author?.login ?? '',
          created_at: comment.createdAt,
          ...bodyOf(comment.body, MAX_COMMENT),
        })),
      ),
    );
    const { hasNextPage, endCursor } = loaded.pageInfo;
    if (!hasNextPage || loads === MAX_LOADS) return all;
    const variables = { id, after: endCursor };
    const more = await client.graphql<{ node: { comments: Comments } | null }>(
      MORE_COMMENTS,
      variables,
      call,
    );
    if (!more.data.node) throw client.graphqlError(more.errors);
    loaded = more.data.node.comments;
  }
}

/** Consecutive comments that fit an entry; one part without any for a thread without comments. */
function partsOf<Comment>(comments: readonly Comment[]): Comment[][] {
  const parts: Comment[][] = [[]];
  let length = 0;
  for (const comment of comments) {
    const bytes = bytesOf(comment);
    if (length > 0 && length + bytes > MAX_ENTRY) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(comment);
    length += bytes;
  }
  return parts;
}

const threadOf = ({ id, isResolved, isOutdated, path, line }: Thread) => ({
  thread_id: id,
  resolved: isResolved,
  ...(isOutdated && { outdated: true }),
  path,
  ...compact({ line: line ?? undefined }),
});
