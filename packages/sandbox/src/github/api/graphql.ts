import { GraphQLError } from 'graphql/error/GraphQLError.js';
import * as z from 'zod';
import type { Json } from '../../json.js';
import { parseOperation, type Selection } from '../graphql-parser.js';
import { iso, nodeId } from '../present.js';
import { headOf, type Issue, type Pull, type Repo, type Thread } from '../world.js';
import { canPush, canSee, commitAct, type ApiRoute, type Call, type Reply } from './call.js';

/** An object of the schema: values, and functions for fields with arguments. */
interface Node {
  readonly [field: string]: unknown;
}

interface GraphqlError {
  readonly type: string;
  readonly message: string;
  readonly path?: readonly string[];
}

export const graphqlRoute: ApiRoute = {
  name: 'graphql',
  method: 'POST',
  path: '/graphql',
  resource: 'graphql',
  handle: execute,
};

async function execute(call: Call): Promise<Reply> {
  const given = await call.body(
    z.object({
      query: z.string(),
      variables: z.record(z.string(), z.unknown()).nullish(),
      operationName: z.string().nullish(),
    }),
  );
  const errors: GraphqlError[] = [];
  try {
    const name = given.operationName ?? undefined;
    const operation = parseOperation(given.query, given.variables ?? {}, name);
    const root = operation.type === 'mutation' ? mutations(call) : queries(call);
    const data = project(root, operation.fields, [], errors);
    return { json: { data, ...(errors.length > 0 && { errors: errors as never }) } };
  } catch (cause) {
    if (!(cause instanceof GraphQLError)) throw cause;
    return { json: { errors: [{ message: `Parse error: ${cause.message}` }] } };
  }
}

class FieldError extends Error {
  readonly type: string;
  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

function project(
  node: unknown,
  fields: readonly Selection[],
  path: readonly string[],
  errors: GraphqlError[],
): Json {
  if (Array.isArray(node)) return node.map((one) => project(one, fields, path, errors));
  if (node === null || node === undefined) return null;
  if (typeof node !== 'object') return node as Json;
  const result: Record<string, Json> = {};
  for (const { name, alias, args, fields: inner } of fields) {
    const at = [...path, alias];
    try {
      if (name !== '__typename' && !(name in node))
        throw new FieldError('undefinedField', `Field '${name}' doesn't exist on this type`);
      const field = (node as Node)[name];
      const value: unknown =
        typeof field === 'function' ? (field as (given: object) => unknown)(args) : field;
      result[alias] = project(value, inner, at, errors);
    } catch (cause) {
      if (!(cause instanceof FieldError)) throw cause;
      errors.push({ type: cause.type, message: cause.message, path: at });
      result[alias] = null;
    }
  }
  return result;
}

const connection =
  (nodes: readonly Node[]) => (args: { first?: number; after?: string | null }) => {
    const start = args.after ? Number(Buffer.from(args.after, 'base64url').toString()) : 0;
    const end = Math.min(start + (args.first ?? 100), nodes.length);
    const cursorAt = (index: number): string => Buffer.from(String(index)).toString('base64url');
    const shown = nodes.slice(start, end);
    return {
      totalCount: nodes.length,
      nodes: shown,
      edges: shown.map((node, index) => ({ cursor: cursorAt(start + index + 1), node })),
      pageInfo: { hasNextPage: end < nodes.length, endCursor: cursorAt(end) },
    };
  };

function queries(call: Call): Node {
  return {
    viewer: { login: call.caller.account.login },
    rateLimit: () => {
      const { limit, remaining, used, reset } = call.limits.peek(
        call.caller.account.login,
        'graphql',
      );
      return { limit, remaining, used, cost: 1, resetAt: iso(reset * 1000) };
    },
    repository: ({ owner, name }: { owner: string; name: string }) => {
      const repo = call.world.repos.get(`${owner}/${name}`.toLowerCase());
      if (!repo || !canSee(call.caller, repo))
        throw new FieldError(
          'NOT_FOUND',
          `Could not resolve to a Repository with the name '${owner}/${name}'.`,
        );
      return repoNode(repo);
    },
    node: ({ id }: { id: string }) => {
      const { pull, thread } = threadOf(call, id, canSee);
      return threadNode(pull, thread);
    },
  };
}

const everyPull = ({ world }: Call) =>
  [...world.repos.values()].flatMap((repo) =>
    [...repo.issues.values()].flatMap((issue) =>
      issue.pull ? [{ repo, issue, pull: issue.pull }] : [],
    ),
  );

const noNode = (id: string) =>
  new FieldError('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);

/** A review thread of a repository that the caller may see or push to. */
function threadOf(call: Call, id: string, isAllowed: typeof canSee) {
  const found = everyPull(call)
    .flatMap((at) => at.pull.threads.map((thread) => ({ ...at, thread })))
    .find(({ thread }) => thread.id === id);
  if (!found || !isAllowed(call.caller, found.repo)) throw noNode(id);
  return found;
}

function repoNode(repo: Repo): Node {
  const find = (number: number, what: string): Issue => {
    const issue = repo.issues.get(number);
    if (!issue || (what === 'PullRequest') !== (issue.pull !== undefined))
      throw new FieldError(
        'NOT_FOUND',
        `Could not resolve to a ${what} with the number of ${number}.`,
      );
    return issue;
  };
  return {
    id: nodeId('R', repo.id),
    nameWithOwner: repo.fullName,
    isPrivate: repo.isPrivate,
    defaultBranchRef: { name: repo.defaultBranch },
    issue: ({ number }: { number: number }) => issueNode(find(number, 'Issue')),
    pullRequest: ({ number }: { number: number }) => pullNode(repo, find(number, 'PullRequest')),
  };
}

const issueNode = (issue: Issue): Node => ({
  id: nodeId(issue.pull ? 'PR' : 'I', issue.id),
  databaseId: issue.id,
  number: issue.number,
  title: issue.title,
  body: issue.body,
  state: issue.state.toUpperCase(),
  author: { login: issue.user.login },
});

function pullNode(repo: Repo, issue: Issue): Node {
  const pull = issue.pull as Pull;
  return {
    ...issueNode(issue),
    isDraft: pull.draft,
    headRefOid: headOf(repo, pull),
    autoMergeRequest: pull.autoMerge === undefined ? null : { mergeMethod: pull.autoMerge },
    reviewThreads: connection(pull.threads.map((thread) => threadNode(pull, thread))),
  };
}

function threadNode(pull: Pull, thread: Thread): Node {
  const comments = pull.comments.filter(
    ({ id, inReplyTo }) => id === thread.root || inReplyTo === thread.root,
  );
  const [first] = comments;
  return {
    id: thread.id,
    isResolved: thread.resolved,
    isOutdated: false,
    path: first?.path ?? '',
    line: first?.line ?? null,
    comments: connection(
      comments.map(({ id, user, body, createdAt }) => ({
        databaseId: id,
        author: { login: user.login },
        body,
        createdAt: iso(createdAt),
      })),
    ),
  };
}

/** Mutations that the tools use. */
function mutations(call: Call): Node {
  const threadChange =
    (resolved: boolean) =>
    ({ input }: { input: { threadId: string } }) => {
      const { repo, issue, pull, thread } = threadOf(call, input.threadId, canPush);
      thread.resolved = resolved;
      const kind = resolved ? 'thread.resolved' : 'thread.unresolved';
      const { number } = issue;
      const { id } = thread;
      commitAct(call, repo, { kind, number, id, content: { id } });
      return { thread: threadNode(pull, thread) };
    };
  const pullChange =
    (kind: string, apply: (pull: Pull, input: Readonly<Record<string, string>>) => void) =>
    ({ input }: { input: Readonly<Record<string, string>> }) => {
      const id = input['pullRequestId'] ?? '';
      const found = everyPull(call).find(({ issue }) => nodeId('PR', issue.id) === id);
      if (!found || !canPush(call.caller, found.repo)) throw noNode(id);
      const { repo, issue, pull } = found;
      apply(pull, input);
      const { number } = issue;
      commitAct(call, repo, { kind, number, content: { number, input } });
      return { pullRequest: pullNode(repo, issue) };
    };
  return {
    resolveReviewThread: threadChange(true),
    unresolveReviewThread: threadChange(false),
    markPullRequestReadyForReview: pullChange('pull.ready', (pull) => {
      pull.draft = false;
    }),
    convertPullRequestToDraft: pullChange('pull.drafted', (pull) => {
      pull.draft = true;
    }),
    enablePullRequestAutoMerge: pullChange(
      'auto-merge.enabled',
      (pull, { mergeMethod = 'MERGE' }) => {
        pull.autoMerge = mergeMethod.toLowerCase();
      },
    ),
    disablePullRequestAutoMerge: pullChange('auto-merge.disabled', (pull) => {
      delete pull.autoMerge;
    }),
  };
}
