import type { UnknownOperation } from '@toolkeel/contract';
import { compact, memberOf, numberOf, stringOf, type CallContext } from '@toolkeel/pack-kit';
import { conflict } from '../faults.js';
import { issueResult } from './create.js';
import {
  beforeSend,
  githubTool,
  invalidInput,
  reconcileBy,
  rejectionOf,
  repoOf,
  type Kit,
} from './kit.js';
import type { RawIssue, Schemas } from './present.js';
import * as specs from './specs/index.js';

const ISSUE = '/repos/{owner}/{repo}/issues/{number}';

export const updateTools = (kit: Kit) => [
  githubTool(specs.updateIssue, kit, async (args, call) => {
    const { repo, number, milestone, ...changes } = args;
    const { data } = await kit.client.idempotent<RawIssue>(
      `PATCH ${ISSUE}`,
      {
        ...repoOf(repo),
        number,
        ...changes,
        ...(milestone !== undefined && { milestone: milestone === 0 ? null : milestone }),
      },
      call,
    );
    return issueResult(data, { ...changes, milestone });
  }),
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
    async ({ repo, number, add = [], remove = [] }, call) => {
      const { client } = kit;
      const at = { ...repoOf(repo), number };
      const { present, ids } = await beforeSend(async () => {
        const children = await subIssues(kit, at, call);
        const known = new Map(children.map((child) => [child.number, child.id]));
        for (const child of add) {
          if (known.has(child)) continue;
          const found = await client.read<RawIssue>(`GET ${ISSUE}`, { ...at, number: child }, call);
          known.set(child, found.data.id);
        }
        return { present: new Set(children.map((child) => child.number)), ids: known };
      });
      const added = add.filter((child) => !present.has(child));
      const removed = remove.filter((child) => present.has(child));
      for (const child of added)
        await send(
          kit,
          `POST ${ISSUE}/sub_issues`,
          { ...at, sub_issue_id: ids.get(child) },
          call,
          422,
        );
      for (const child of removed)
        await send(
          kit,
          `DELETE ${ISSUE}/sub_issue`,
          { ...at, sub_issue_id: ids.get(child) },
          call,
          404,
        );
      const kept = [...present].filter((child) => !removed.includes(child));
      return { number, added, removed, sub_issues: [...kept, ...added] };
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

const MAX_SUB_ISSUES = 200;

async function subIssues({ client }: Kit, at: object, call: CallContext) {
  const route = `GET ${ISSUE}/sub_issues`;
  const { items } = await client.collect<RawIssue>(route, { ...at }, call, MAX_SUB_ISSUES);
  return items;
}

/** A retry may find its own first attempt done. */
async function send(
  kit: Kit,
  route: string,
  at: object,
  call: CallContext,
  done: number,
): Promise<void> {
  try {
    await kit.client.idempotent(route, { ...at }, call);
  } catch (cause) {
    const error = rejectionOf(cause);
    const isDone =
      error?.status === done && (done === 404 || /duplicate/i.test(error.reason ?? ''));
    if (!isDone) throw cause;
  }
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
        const isDone = action === 'cancel' ? isCancelled && now === attempt : now > attempt;
        return isDone ? { run_id, action, attempt: now } : undefined;
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
  return (await client.read<Schemas['workflow-run']>(route, at, call)).data;
}
