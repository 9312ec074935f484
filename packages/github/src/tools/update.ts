import { beforeSend, type UnknownOperation } from '@toolkeel/contract';
import { compact, memberOf, numberOf, stringOf, type CallContext } from '@toolkeel/pack-kit';
import { documented } from '../client/document.js';
import { rejectionOf } from '../client/faults.js';
import { conflict } from '../faults.js';
import { issueResult } from './create.js';
import {
  githubTool,
  invalidInput,
  reconcileBy,
  refuseUnchanged,
  repoOf,
  runParts,
  withWarnings,
  type Kit,
  type Part,
} from './kit.js';
import type { RawIssue, Schemas } from './present.js';
import * as specs from './specs/index.js';

const ISSUE = '/repos/{owner}/{repo}/issues/{number}';

export const updateTools = (kit: Kit) => [
  githubTool(
    specs.updateIssue,
    kit,
    async (args, call) => {
      const { repo, number, milestone, ...changes } = args;
      const updated = await kit.client.idempotent<RawIssue>(
        `PATCH ${ISSUE}`,
        {
          ...repoOf(repo),
          number,
          ...changes,
          ...(milestone !== undefined && { milestone: milestone === 0 ? null : milestone }),
        },
        call,
      );
      return documented(updated, (issue) => issueResult(issue, { ...changes, milestone }));
    },
    {
      check: ({ repo: _, number: __, ...changes }) =>
        changes.state_reason !== undefined && changes.state === undefined
          ? invalidInput('state_reason', 'GitHub ignores it without a state')
          : refuseUnchanged(changes),
    },
  ),
  githubTool(specs.resolveThread, kit, async ({ thread_id, resolved }, call) => {
    const name = resolved ? 'resolveReviewThread' : 'unresolveReviewThread';
    const document = `mutation($id: ID!) { ${name}(input: { threadId: $id }) { thread { isResolved } } }`;
    const { data, errors } = await kit.client.graphql(
      document,
      { id: thread_id },
      call,
      'idempotent',
    );
    const thread = memberOf(memberOf(data, name), 'thread');
    if (errors.length > 0 || !thread) throw kit.client.graphqlError(errors);
    return { thread_id, resolved: memberOf(thread, 'isResolved') === true };
  }),
  relateTool(kit),
  githubTool(specs.markNotificationRead, kit, async ({ id }, call) => {
    await kit.client.idempotent('PATCH /notifications/threads/{id}', { id }, call);
    return { id, unread: false };
  }),
];

/** The API takes database ids; callers know numbers. Only differences are sent. */
const relateTool = (kit: Kit) =>
  githubTool(
    specs.relateIssues,
    kit,
    async ({ repo, number, ...given }, call) => {
      const { client } = kit;
      const [add, remove] = [new Set(given.add), new Set(given.remove)];
      const at = { ...repoOf(repo), number };
      const { present, ids } = await beforeSend(async () => {
        const children = await subIssues(kit, at, call);
        const known = new Map(children.map((child) => [child.number, child.id]));
        for (const child of add) {
          if (known.has(child)) continue;
          const found = await client.read<RawIssue>(`GET ${ISSUE}`, { ...at, number: child }, call);
          known.set(
            child,
            documented(found, ({ id }) => id),
          );
        }
        return { present: new Set(children.map((child) => child.number)), ids: known };
      });
      const added = [...add].filter((child) => !present.has(child));
      const removed = [...remove].filter((child) => present.has(child));
      const isChild = async (child: number): Promise<boolean> =>
        (await subIssues(kit, at, call)).some((one) => one.number === child);
      const change = (route: string, child: number, wanted: boolean): Part => [
        nameOf(child),
        async () => {
          try {
            await client.idempotent(route, { ...at, sub_issue_id: ids.get(child) }, call);
          } catch (cause) {
            // A retry may find its own first attempt done; so may a call that races with another.
            const isDone =
              rejectionOf(cause) && (await isChild(child).catch(() => !wanted)) === wanted;
            if (isDone !== true) throw cause;
          }
        },
      ];
      const { failed, warnings } = await runParts([
        ...added.map((child) => change(`POST ${ISSUE}/sub_issues`, child, true)),
        ...removed.map((child) => change(`DELETE ${ISSUE}/sub_issue`, child, false)),
      ]);
      const isDone = (child: number): boolean => !failed.has(nameOf(child));
      const [gained, lost] = [added.filter(isDone), removed.filter(isDone)];
      const kept = [...present].filter((child) => !lost.includes(child));
      return {
        number,
        added: gained,
        removed: lost,
        sub_issues: [...kept, ...gained],
        ...withWarnings(warnings),
      };
    },
    {
      check: ({ number, add = [], remove = [] }) => {
        if (add.length + remove.length === 0)
          return invalidInput('add', 'name an issue to add or remove');
        return add.includes(number)
          ? invalidInput('add', 'an issue cannot contain itself')
          : undefined;
      },
    },
  );

const nameOf = (child: number): string => `Sub-issue #${child}`;

const MAX_SUB_ISSUES = 200;

async function subIssues({ client }: Kit, at: object, call: CallContext) {
  const route = `GET ${ISSUE}/sub_issues`;
  const { items } = await client.collect<RawIssue>(route, { ...at }, call, MAX_SUB_ISSUES);
  return items.map((data) =>
    documented({ data, url: client.baseUrl }, ({ id, number }) => ({ id, number })),
  );
}

const ACTIONS = '/repos/{owner}/{repo}/actions';

interface RunArguments {
  readonly repo: string;
  readonly run_id: number;
  readonly attempt: number;
  readonly action: 'rerun' | 'rerun_failed' | 'cancel';
}

export const actionWriteTools = (kit: Kit) => [
  githubTool(specs.runWorkflow, kit, async ({ repo, workflow, ref, inputs }, call) => {
    const at = { ...repoOf(repo), workflow, ref, ...(inputs && { inputs }) };
    const route = `POST ${ACTIONS}/workflows/{workflow}/dispatches`;
    const dispatch = (details: object) => kit.client.once(route, { ...at, ...details }, call);
    // Older Enterprise Servers do not know the option, and start nothing.
    const { data } = await dispatch({ return_run_details: true }).catch((cause: unknown) => {
      if (rejectionOf(cause)?.reason?.includes('return_run_details') !== true) throw cause;
      return dispatch({});
    });
    return {
      workflow,
      ...compact({
        run_id: numberOf(memberOf(data, 'workflow_run_id')),
        url: stringOf(memberOf(data, 'html_url')),
      }),
    };
  }),
  githubTool(
    specs.controlRun,
    kit,
    async (args, call) => {
      const { repo, run_id, attempt, action } = args;
      const run = await beforeSend(() => readRun(kit, args, call));
      if (run.run_attempt !== attempt)
        return conflict(`The run is at attempt ${run.run_attempt}, not ${attempt}.`, {
          attempt: run.run_attempt,
        });
      const path = { rerun: 'rerun', rerun_failed: 'rerun-failed-jobs', cancel: 'cancel' }[action];
      await kit.client.once(
        `POST ${ACTIONS}/runs/{run_id}/${path}`,
        { ...repoOf(repo), run_id },
        call,
      );
      return { run_id, action, attempt: action === 'cancel' ? attempt : attempt + 1 };
    },
    {
      reconcile: reconcileBy(kit, true, async ({ args }: UnknownOperation<RunArguments>, call) => {
        const { run_attempt: now = 1, status, conclusion } = await readRun(kit, args, call);
        const { run_id, action, attempt } = args;
        const isCancelled = conclusion === 'cancelled' || status === 'cancelled';
        if (action === 'cancel') {
          if (isCancelled && now === attempt) return { run_id, action, attempt };
          // GitHub accepts a cancellation long before the run ends.
          return status === 'completed' || now > attempt ? undefined : 'unknown';
        }
        return now > attempt ? { run_id, action, attempt: now } : undefined;
      }),
    },
  ),
];

async function readRun(
  { client }: Kit,
  { repo, run_id }: { readonly repo: string; readonly run_id: number },
  call: CallContext,
) {
  const route = `GET ${ACTIONS}/runs/{run_id}`;
  const at = { ...repoOf(repo), run_id };
  const response = await client.read<Schemas['workflow-run']>(route, at, call);
  documented(response, ({ id }) => id);
  return response.data;
}
