import { beforeSend, toolError, type UnknownOperation } from '@toolkeel/contract';
import { compact, pause, type CallContext } from '@toolkeel/pack-kit';
import { documented, itemsIn } from '../client/document.js';
import { rejectionOf } from '../client/faults.js';
import { conflict } from '../faults.js';
import {
  act,
  differing,
  droppedFrom,
  githubTool,
  isSince,
  reconcileBy,
  refuseUnchanged,
  repoOf,
  runParts,
  unapplied,
  warningOf,
  withWarnings,
  type Kit,
  type Part,
} from './kit.js';
import { pullSummary, type RawIssue, type RawPull, type Schemas } from './present.js';
import * as specs from './specs/index.js';

export const pullWriteTools = (kit: Kit) => [
  createPullTool(kit),
  mergeTool(kit),
  updatePullTool(kit),
];

const PULLS = '/repos/{owner}/{repo}/pulls';
const PULL = `${PULLS}/{number}`;

interface PullArguments {
  readonly repo: string;
  readonly title: string;
  readonly head: string;
  readonly base: string;
  readonly body: string;
  readonly draft: boolean;
  readonly reviewers?: readonly string[] | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly assignees?: readonly string[] | undefined;
}

const createPullTool = (kit: Kit) =>
  githubTool(
    specs.createPull,
    kit,
    (args, call) =>
      act(call, async (inner) => {
        const { repo, title, body, head, base, draft } = args;
        const given = { ...repoOf(repo), title, body, head, base, draft };
        try {
          const created = await kit.client.once<RawPull>(`POST ${PULLS}`, given, inner, {
            createsContent: true,
          });
          return await completed(kit, args, documented(created, pullSummary), inner);
        } catch (cause) {
          const error = rejectionOf(cause);
          if (error?.status !== 422 || !/already exists/i.test(error.reason ?? '')) throw cause;
          const { data } = await beforeSend(() => pullsOf(kit, args, 'open', inner));
          const [existing] = data;
          if (!existing) throw cause;
          const names = differing({ ...contentOf(args, existing), ...peopleOf(args, existing) });
          const warnings = withWarnings(unapplied('pull request', names));
          return { pull: pullSummary(existing), replayed: true, ...warnings };
        }
      }),
    {
      reconcile: reconcileBy(
        kit,
        true,
        async ({ args, sentAt }: UnknownOperation<PullArguments>, call) => {
          const page = await pullsOf(kit, args, 'all', call);
          const recent = page.data.filter((pull) => isSince(kit, page, sentAt, pull.created_at));
          const found = recent.find(
            (pull) => pull.state === 'open' && differing(contentOf(args, pull)).length === 0,
          );
          // Another one may be ours, changed since, and proves nothing.
          if (!found) return recent.length > 0 ? 'unknown' : undefined;
          const lost = differing(peopleOf(args, found));
          const warning = `Not set, or ignored by GitHub: some of the ${lost.join(', ')}.`;
          return { pull: pullSummary(found), ...withWarnings(lost.length > 0 ? [warning] : []) };
        },
      ),
    },
  );

/** The pull requests of the same branches, newest first. */
async function pullsOf(
  { client }: Kit,
  { repo, head, base }: PullArguments,
  state: 'open' | 'all',
  call: CallContext,
) {
  const { owner } = repoOf(repo);
  const from = head.includes(':') ? head : `${owner}:${head}`;
  const route = `GET ${PULLS}`;
  const at = { ...repoOf(repo), head: from, base, state, per_page: 30 };
  const page = await client.read(route, at, call);
  const data = itemsIn(page) as readonly FoundPull[];
  documented({ ...page, data }, (all) => all.map(pullSummary));
  return { ...page, data };
}

type FoundPull = Schemas['pull-request-simple'];

const contentOf = ({ title, body, draft }: PullArguments, pull: FoundPull) => ({
  title: [title, pull.title] as const,
  body: [body, pull.body] as const,
  draft: [draft, pull.draft] as const,
});

const peopleOf = ({ reviewers, labels, assignees }: PullArguments, pull: FoundPull) => {
  const has = pullSummary(pull);
  const logins = (pull.assignees ?? []).map(({ login }) => login);
  return {
    reviewers: [reviewers, has.reviewers] as const,
    labels: [labels, has.labels] as const,
    assignees: [assignees, logins] as const,
  };
};

/** Reviewers, labels and assignees follow; what fails of them is a warning, the pull request exists. */
async function completed(
  kit: Kit,
  args: PullArguments,
  pull: ReturnType<typeof pullSummary>,
  call: CallContext,
) {
  const { repo, reviewers = [], labels = [], assignees = [] } = args;
  const at = { ...repoOf(repo), number: pull.number };
  const warnings: string[] = [];
  const add = async (
    what: string,
    route: string,
    names: object,
    after: (data: never) => string[],
  ) => {
    try {
      const { data } = await kit.client.idempotent(route, { ...at, ...names }, call);
      warnings.push(...after(data as never));
    } catch (cause) {
      warnings.push(warningOf(`The pull request exists, but its ${what} could not be set`, cause));
    }
  };
  let shown = pull;
  if (reviewers.length > 0)
    await add('reviewers', `POST ${PULL}/requested_reviewers`, { reviewers }, (data: RawPull) => {
      shown = { ...shown, reviewers: pullSummary(data).reviewers ?? [] };
      return [];
    });
  const ISSUE = '/repos/{owner}/{repo}/issues/{number}';
  if (labels.length > 0)
    await add('labels', `POST ${ISSUE}/labels`, { labels }, (data: { name: string }[]) => {
      const kept = data.map(({ name }) => name);
      shown = { ...shown, labels: kept };
      return droppedFrom('labels', labels, kept);
    });
  if (assignees.length > 0)
    await add('assignees', `POST ${ISSUE}/assignees`, { assignees }, (data: RawIssue) => {
      const kept = (data.assignees ?? []).map(({ login }) => login);
      return droppedFrom('assignees', assignees, kept);
    });
  return { pull: shown, ...withWarnings(warnings) };
}

const MAX_MERGE_ROUNDS = 3;
const MERGE_PAUSE_MS = 1_000;

interface MergeArguments {
  readonly repo: string;
  readonly number: number;
  readonly head_sha: string;
}

const mergeTool = (kit: Kit) =>
  githubTool(
    specs.mergePull,
    kit,
    async (args, call) => {
      const { repo, number, head_sha, method, title, message } = args;
      const given = compact({ merge_method: method, commit_title: title, commit_message: message });
      const request = { ...repoOf(repo), number, sha: head_sha, ...given };
      for (let round = 1; ; round += 1) {
        try {
          const merged = await kit.client.once<{ sha: string; merged: boolean }>(
            `PUT ${PULL}/merge`,
            request,
            call,
            { createsContent: true },
          );
          return documented(merged, ({ merged: isDone, sha }) => ({ merged: isDone, sha, number }));
        } catch (cause) {
          const error = rejectionOf(cause);
          if (error?.status !== 405 && error?.status !== 409) throw cause;
          const pull = await beforeSend(() => readPull(kit, args, call));
          if (isMerged(pull, head_sha)) return { ...mergedResult(pull), replayed: true };
          if (pull.head.sha !== head_sha)
            return conflict(`The head moved to ${pull.head.sha}. Review it, then merge that.`, {
              head_sha: pull.head.sha,
            });
          const isBaseMoved = /base branch was modified/i.test(error.reason ?? '');
          if (!isBaseMoved || round === MAX_MERGE_ROUNDS)
            return toolError(
              'upstream_rejected',
              `GitHub does not merge it: ${error.reason} (${pull.mergeable_state}).`,
              {
                outcome: 'not_executed',
                details: { status: error.status, reason: error.reason ?? '' },
              },
            );
          await pause(kit.client.clock, MERGE_PAUSE_MS, call.signal);
        }
      }
    },
    {
      reconcile: reconcileBy(
        kit,
        true,
        async ({ args }: UnknownOperation<MergeArguments>, call) => {
          const pull = await readPull(kit, args, call);
          return isMerged(pull, args.head_sha) ? mergedResult(pull) : undefined;
        },
      ),
    },
  );

async function readPull(
  { client }: Kit,
  { repo, number }: { readonly repo: string; readonly number: number },
  call: CallContext,
) {
  const response = await client.read<RawPull>(`GET ${PULL}`, { ...repoOf(repo), number }, call);
  documented(response, pullSummary);
  return response.data;
}

const isMerged = (pull: RawPull, head: string): boolean => pull.merged && pull.head.sha === head;

/** Newer API versions do not name the merge commit. */
const mergedResult = (pull: RawPull) =>
  compact({ merged: true, sha: pull.merge_commit_sha ?? undefined, number: pull.number });

const DRAFT = (name: string): string =>
  `mutation($id: ID!) { ${name}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`;

const AUTO_MERGE = `mutation($id: ID!, $method: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: { pullRequestId: $id, mergeMethod: $method }) {
    pullRequest { isDraft }
  }
}`;
const NO_AUTO_MERGE =
  'mutation($id: ID!) { disablePullRequestAutoMerge(input: { pullRequestId: $id }) { pullRequest { isDraft } } }';

const updatePullTool = (kit: Kit) =>
  githubTool(
    specs.updatePull,
    kit,
    async (args, call) => {
      const { client } = kit;
      const { repo, number, title, body, state, base, draft, auto_merge: auto } = args;
      const at = { ...repoOf(repo), number };
      const before = await beforeSend(() => readPull(kit, args, call));
      const id = before.node_id;
      const mutate = (document: string, variables: object) => async () => {
        const { data, errors } = await client.graphql(
          document,
          { id, ...variables },
          call,
          'idempotent',
        );
        if (errors.length > 0) throw client.graphqlError(errors);
        return data;
      };
      const fields = compact({ title, body, state, base });
      const has = pullSummary(before).reviewers ?? [];
      const added = (args.add_reviewers ?? []).filter((name) => !has.includes(name));
      const removed = (args.remove_reviewers ?? []).filter((name) => has.includes(name));
      const parts: Part[] = [];
      if (Object.keys(fields).length > 0)
        parts.push([
          'fields',
          () => client.idempotent(`PATCH ${PULL}`, { ...at, ...fields }, call),
        ]);
      if (draft !== undefined && draft !== before.draft)
        parts.push([
          'draft',
          mutate(DRAFT(draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview'), {}),
        ]);
      const REVIEWERS = `${PULL}/requested_reviewers`;
      if (added.length > 0)
        parts.push([
          'reviewers',
          () => client.idempotent(`POST ${REVIEWERS}`, { ...at, reviewers: added }, call),
        ]);
      if (removed.length > 0)
        parts.push([
          'reviewers',
          () => client.idempotent(`DELETE ${REVIEWERS}`, { ...at, reviewers: removed }, call),
        ]);
      if (auto === 'off') {
        if (before.auto_merge) parts.push(['auto_merge', mutate(NO_AUTO_MERGE, {})]);
      } else if (auto !== undefined && before.auto_merge?.merge_method !== auto) {
        parts.push(['auto_merge', mutate(AUTO_MERGE, { method: auto.toUpperCase() })]);
      }
      const { warnings } = await runParts(parts);
      const after = await readPull(kit, args, call).catch((cause: unknown) => {
        warnings.push(
          warningOf('This is the state before the change; the new one is unknown', cause),
        );
        return before;
      });
      return { pull: pullSummary(after), ...withWarnings(warnings) };
    },
    {
      check: ({ repo: _, number: __, add_reviewers = [], remove_reviewers = [], ...fields }) =>
        add_reviewers.length + remove_reviewers.length > 0 ? undefined : refuseUnchanged(fields),
    },
  );
