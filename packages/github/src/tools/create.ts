import { randomUUID } from 'node:crypto';
import { beforeSend, type Reconcile, type UnknownOperation } from '@toolkeel/contract';
import { compact, type CallContext } from '@toolkeel/pack-kit';
import { documented } from '../client/document.js';
import { rejectionOf } from '../client/faults.js';
import { hasMarker, withMarker } from '../client/markers.js';
import { conflict } from '../faults.js';
import {
  differing,
  droppedFrom,
  githubTool,
  isSince,
  reconcileBy,
  repoOf,
  sinceOf,
  unapplied,
  withWarnings,
  type GitHubCall,
  type Kit,
} from './kit.js';
import {
  commentOf,
  issueSummary,
  labelNames,
  releaseOf,
  reviewOf,
  type RawIssue,
  type Schemas,
} from './present.js';
import * as specs from './specs/index.js';

export const createTools = (kit: Kit) => [
  issueTool(kit),
  commentTool(kit),
  reviewTool(kit),
  replyTool(kit),
  branchTool(kit),
  releaseTool(kit),
];

/** The body with the marker of this operation. */
function marked({ config }: Kit, body: string, { operationId }: GitHubCall): string {
  return config.markers ? withMarker(body, operationId ?? randomUUID()) : body;
}

interface Found {
  readonly body?: string | null | undefined;
}

const newestFirst = { sort: 'created', direction: 'desc' };

/** More than are made while an answer is lost. */
const MAX_LOOKED_AT = 1000;

/** Finds the write by its marker in a list. Search is not used: its index lags. */
function markerReconcile<Args, Data>(
  kit: Kit,
  route: string,
  parameters: (args: Args, since: string) => Readonly<Record<string, unknown>>,
  show: (item: never, args: Args) => Data,
): Reconcile<Args, Data> {
  const find = async ({ id, args, sentAt }: UnknownOperation<Args>, call: CallContext) => {
    if (!kit.config.markers) return 'unknown' as const;
    const given = parameters(args, sinceOf(sentAt));
    const isOurs = ({ body }: Found): boolean => hasMarker(body, id);
    const { found, isComplete } = await kit.client.find(route, given, call, MAX_LOOKED_AT, isOurs);
    if (found) return show(found as never, args);
    return isComplete ? undefined : ('unknown' as const);
  };
  return reconcileBy(kit, false, find);
}

interface IssueArguments {
  readonly repo: string;
  readonly labels?: readonly string[] | undefined;
  readonly assignees?: readonly string[] | undefined;
  readonly milestone?: number | undefined;
}

/** The issue, and what GitHub did not take over from the request. */
export function issueResult(
  issue: RawIssue,
  asked: Omit<IssueArguments, 'repo'> & { readonly state_reason?: string | undefined },
) {
  const { state_reason: reason } = asked;
  const isReasonLost = reason !== undefined && (issue.state_reason ?? undefined) !== reason;
  const assignees = (issue.assignees ?? []).map(({ login }) => login);
  const isMilestoneLost = (asked.milestone ?? 0) > 0 && !issue.milestone;
  const warnings = [
    ...droppedFrom('labels', asked.labels, labelNames(issue.labels)),
    ...droppedFrom('assignees', asked.assignees, assignees),
    ...(isReasonLost ? droppedFrom('state reasons', [reason], []) : []),
    ...(isMilestoneLost ? droppedFrom('milestones', [String(asked.milestone)], []) : []),
  ];
  return { issue: issueSummary(issue), ...withWarnings(warnings) };
}

const ISSUES = '/repos/{owner}/{repo}/issues';

const issueTool = (kit: Kit) =>
  githubTool(
    specs.createIssue,
    kit,
    async (args, call) => {
      const { repo, title, labels, assignees, milestone } = args;
      const body = marked(kit, args.body, call);
      const created = await kit.client.once<RawIssue>(
        `POST ${ISSUES}`,
        { ...repoOf(repo), title, body, labels, assignees, milestone },
        call,
        { createsContent: true },
      );
      return documented(created, (issue) => issueResult(issue, args));
    },
    {
      reconcile: markerReconcile(
        kit,
        `GET ${ISSUES}`,
        ({ repo }: IssueArguments, since) => ({
          ...repoOf(repo),
          state: 'all',
          since,
          ...newestFirst,
        }),
        (issue: RawIssue, args) => issueResult(issue, args),
      ),
    },
  );

interface NumberArguments {
  readonly repo: string;
  readonly number: number;
}

const commentTool = (kit: Kit) =>
  githubTool(
    specs.comment,
    kit,
    async ({ repo, number, body }, call) => {
      const created = await kit.client.once<Schemas['issue-comment']>(
        `POST ${ISSUES}/{number}/comments`,
        { ...repoOf(repo), number, body: marked(kit, body, call) },
        call,
        { createsContent: true },
      );
      return documented(created, commentOf);
    },
    {
      reconcile: markerReconcile(
        kit,
        // The list of one issue is oldest first.
        `GET ${ISSUES}/comments`,
        ({ repo }: NumberArguments, since) => ({ ...repoOf(repo), since, ...newestFirst }),
        (comment: Schemas['issue-comment']) => commentOf(comment),
      ),
    },
  );

const PULL = '/repos/{owner}/{repo}/pulls/{number}';

const reviewTool = (kit: Kit) =>
  githubTool(
    specs.submitReview,
    kit,
    async (args, call) => {
      const { repo, number, event, commit_id, comments = [] } = args;
      // GitHub refuses a review that says nothing; a marker would make it say something.
      const isEmpty = event !== 'approve' && args.body === '' && comments.length === 0;
      const created = await kit.client.once<Schemas['pull-request-review']>(
        `POST ${PULL}/reviews`,
        {
          ...repoOf(repo),
          number,
          // Always with an event: without one, the review would stay pending and invisible.
          event: event.toUpperCase(),
          body: isEmpty ? '' : marked(kit, args.body, call),
          commit_id,
          comments,
        },
        call,
        { createsContent: true },
      );
      return documented(created, reviewOf);
    },
    {
      reconcile: markerReconcile(
        kit,
        `GET ${PULL}/reviews`,
        ({ repo, number }: NumberArguments) => ({ ...repoOf(repo), number }),
        (review: Schemas['pull-request-review']) => reviewOf(review),
      ),
    },
  );

const reply = ({ id, html_url }: Schemas['pull-request-review-comment']) => ({
  comment_id: id,
  ...compact({ url: html_url }),
});

const replyTool = (kit: Kit) =>
  githubTool(
    specs.replyReviewComment,
    kit,
    async ({ repo, number, comment_id, body }, call) => {
      const created = await kit.client.once<Schemas['pull-request-review-comment']>(
        `POST ${PULL}/comments/{comment_id}/replies`,
        { ...repoOf(repo), number, comment_id, body: marked(kit, body, call) },
        call,
        { createsContent: true },
      );
      return documented(created, reply);
    },
    {
      reconcile: markerReconcile(
        kit,
        `GET ${PULL}/comments`,
        ({ repo, number }: NumberArguments) => ({ ...repoOf(repo), number, ...newestFirst }),
        (comment: Schemas['pull-request-review-comment']) => reply(comment),
      ),
    },
  );

/** The commit of a branch, tag or SHA. */
async function commitAt({ client }: Kit, repo: string, ref: string, call: CallContext) {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}';
  const accept = 'application/vnd.github.sha';
  const at = { ...repoOf(repo), ref };
  const response = await client.read<string>(route, at, call, { accept, expects: 'text' });
  return documented(response, (text) => /^[0-9a-f]{40,64}$/.exec(text.trim())?.[0] as string);
}

/** The commit of a branch; undefined if there is no such branch. */
export async function headOf({ client }: Kit, repo: string, branch: string, call: CallContext) {
  const route = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
  try {
    const at = { ...repoOf(repo), ref: `heads/${branch}` };
    const response = await client.read<Schemas['git-ref']>(route, at, call);
    return documented(response, ({ object }) => object.sha);
  } catch (cause) {
    if (rejectionOf(cause)?.status === 404) return undefined;
    throw cause;
  }
}

const branchTool = (kit: Kit) =>
  githubTool(
    specs.createBranch,
    kit,
    async ({ repo, branch, from = 'HEAD' }, call) => {
      const sha = await beforeSend(() => commitAt(kit, repo, from, call));
      if (call.operationId !== undefined) kit.commits.set(call.operationId, sha);
      const at = { ...repoOf(repo), ref: `refs/heads/${branch}`, sha };
      let rejected: unknown;
      try {
        await kit.client.once('POST /repos/{owner}/{repo}/git/refs', at, call, {
          createsContent: true,
        });
        return { branch, sha };
      } catch (cause) {
        if (!/already exists/i.test(rejectionOf(cause)?.reason ?? '')) throw cause;
        rejected = cause;
      }
      const existing = await beforeSend(() => headOf(kit, repo, branch, call));
      if (existing === sha) return { branch, sha, replayed: true };
      // Deleted meanwhile, or a branch whose name starts like this one.
      if (existing === undefined) throw rejected;
      return conflict(`The branch ${branch} exists at ${existing}, not at ${sha}.`, {
        sha: existing,
      });
    },
    {
      reconcile: reconcileBy(
        kit,
        true,
        async (
          {
            id,
            args,
          }: UnknownOperation<{ repo: string; branch: string; from?: string | undefined }>,
          call,
        ) => {
          const existing = await headOf(kit, args.repo, args.branch, call);
          if (existing === undefined) return undefined;
          // The ref may have moved since the branch was made from it.
          const sha =
            kit.commits.get(id) ?? (await commitAt(kit, args.repo, args.from ?? 'HEAD', call));
          return existing === sha ? { branch: args.branch, sha } : 'unknown';
        },
      ),
    },
  );

const RELEASES = '/repos/{owner}/{repo}/releases';

async function releaseOfTag({ client }: Kit, repo: string, tag: string, call: CallContext) {
  try {
    const route = `GET ${RELEASES}/tags/{tag}`;
    const response = await client.read<Schemas['release']>(route, { ...repoOf(repo), tag }, call);
    documented(response, releaseOf);
    return response;
  } catch (cause) {
    if (rejectionOf(cause)?.status === 404) return undefined;
    throw cause;
  }
}

interface ReleaseArguments {
  readonly repo: string;
  readonly tag: string;
  readonly name?: string | undefined;
  readonly body: string;
  readonly target?: string | undefined;
  readonly draft: boolean;
  readonly prerelease: boolean;
}

const unlike = (
  { name, body, target, draft, prerelease }: ReleaseArguments,
  release: Schemas['release'],
): string[] =>
  differing({
    name: [name, release.name],
    body: [body, release.body],
    target: [target, release.target_commitish],
    draft: [draft, release.draft],
    prerelease: [prerelease, release.prerelease],
  });

const releaseTool = (kit: Kit) =>
  githubTool(
    specs.createRelease,
    kit,
    async (args, call) => {
      const { repo, tag, name, body, target, draft, prerelease } = args;
      const given = { tag_name: tag, target_commitish: target, name, body, draft, prerelease };
      const request = { ...repoOf(repo), ...compact(given) };
      try {
        const route = `POST ${RELEASES}`;
        const options = { createsContent: true };
        const created = await kit.client.once<Schemas['release']>(route, request, call, options);
        return { release: documented(created, releaseOf) };
      } catch (cause) {
        const errors = rejectionOf(cause)?.errors ?? [];
        if (!errors.some(({ code }) => code === 'already_exists')) throw cause;
        const existing = await beforeSend(() => releaseOfTag(kit, repo, tag, call));
        if (!existing) throw cause;
        const warnings = withWarnings(unapplied('release', unlike(args, existing.data)));
        return { release: releaseOf(existing.data), replayed: true, ...warnings };
      }
    },
    {
      // A draft has no tag yet, and GitHub accepts several of one name.
      reconcile: reconcileBy(
        kit,
        true,
        async ({ args, sentAt }: UnknownOperation<ReleaseArguments>, call) => {
          if (args.draft) return 'unknown';
          const found = await releaseOfTag(kit, args.repo, args.tag, call);
          // GitHub refuses a second release of the tag, so an older one proves that this one was refused.
          if (!found || !isSince(kit, found, sentAt, found.data.published_at)) return undefined;
          return unlike(args, found.data).length > 0
            ? 'unknown'
            : { release: releaseOf(found.data) };
        },
      ),
    },
  );
