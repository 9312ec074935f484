import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { JsonObject } from '../../json.js';
import { iso, runJson } from '../present.js';
import { notFound, problem } from '../problems.js';
import type { Job, Repo, Run } from '../world.js';
import {
  commitAct,
  numberIn,
  paged,
  repoRoute,
  requirePush,
  resolveRef,
  type ApiRoute,
  type Call,
  type Reply,
} from './call.js';

function runOf(call: Call, repo: Repo): Run {
  const run = repo.runs.find(({ id }) => id === numberIn(call, 'run'));
  if (!run) throw notFound();
  return run;
}

const jobJson = (run: Run, job: Job): JsonObject => ({
  id: job.id,
  run_id: run.id,
  run_attempt: run.attempt,
  name: job.name,
  status: 'completed',
  conclusion: job.conclusion,
  started_at: iso(run.createdAt),
  completed_at: iso(run.updatedAt),
  steps: [{ number: 1, name: 'Run', status: 'completed', conclusion: job.conclusion }],
});

const change = (
  name: string,
  path: string,
  apply: (run: Run, now: number) => Partial<Run>,
): ApiRoute =>
  repoRoute(name, `POST /actions/runs/:run{[0-9]+}/${path}`, 'actions:write', (call, repo) => {
    requirePush(call, repo);
    const run = runOf(call, repo);
    Object.assign(run, apply(run, call.world.clock.now()));
    const { id, attempt } = run;
    commitAct(call, repo, { kind: `run.${name}`, id, content: { id, attempt } });
    return { status: name === 'cancel-run' ? 202 : 201, json: {} };
  });

const rerun = ({ status, attempt }: Run, now: number): Partial<Run> => {
  if (status !== 'completed') throw problem(403, 'This workflow is already running');
  return { attempt: attempt + 1, status: 'queued', conclusion: null, updatedAt: now };
};

export const actionsRoutes: readonly ApiRoute[] = [
  repoRoute('runs', 'GET /actions/runs', 'actions:read', (call, repo) => {
    const { query } = call;
    const [branch, status, sha] = ['branch', 'status', 'head_sha'].map((name) => query.get(name));
    const found = repo.runs
      .filter(
        (run) =>
          (!branch || run.branch === branch) &&
          (!status || run.status === status || run.conclusion === status) &&
          (!sha || run.sha === sha),
      )
      .toReversed();
    return paged(
      call,
      found,
      (run) => runJson(repo, run),
      (shown, total) => ({ total_count: total, workflow_runs: shown }),
    );
  }),
  repoRoute('run', 'GET /actions/runs/:run{[0-9]+}', 'actions:read', (call, repo) => ({
    json: runJson(repo, runOf(call, repo)),
  })),
  repoRoute('run-jobs', 'GET /actions/runs/:run{[0-9]+}/jobs', 'actions:read', (call, repo) => {
    const run = runOf(call, repo);
    return paged(
      call,
      run.jobs,
      (job) => jobJson(run, job),
      (shown, total) => ({ total_count: total, jobs: shown }),
    );
  }),
  repoRoute(
    'job-logs',
    'GET /actions/jobs/:job{[0-9]+}/logs',
    { needs: 'actions:read', auth: 'token' },
    (call, repo) => {
      const id = numberIn(call, 'job');
      const job = repo.runs.flatMap(({ jobs }) => jobs).find((one) => one.id === id);
      if (!job) throw notFound();
      const link = randomBytes(12).toString('hex');
      call.logLinks.set(link, { text: job.log, until: call.world.clock.now() + 60_000 });
      const location = `${call.origins['logs']}/logs/${link}?sig=${link.slice(0, 8)}`;
      return { status: 302, headers: { location } };
    },
  ),
  repoRoute(
    'dispatch-workflow',
    'POST /actions/workflows/:workflow/dispatches',
    'actions:write',
    dispatch,
  ),
  change('rerun', 'rerun', rerun),
  change('rerun-failed', 'rerun-failed-jobs', rerun),
  change('cancel-run', 'cancel', ({ status }, now) => {
    if (status === 'completed')
      throw problem(409, 'Cannot cancel a workflow run that is completed.');
    return { status: 'completed', conclusion: 'cancelled', updatedAt: now };
  }),
];

async function dispatch(call: Call, repo: Repo): Promise<Reply> {
  requirePush(call, repo);
  const named = call.param('workflow');
  const workflow = repo.workflows.find(
    ({ id, path }) => String(id) === named || path.endsWith(`/${named}`),
  );
  if (!workflow) throw notFound();
  const given = await call.body(
    z.object({
      ref: z.string(),
      inputs: z.record(z.string(), z.unknown()).optional(),
      return_run_details: z.boolean().optional(),
    }),
  );
  const branch = given.ref.replace(/^refs\/heads\//, '');
  const sha = resolveRef(call, repo, branch);
  if (sha === undefined) throw problem(422, `No ref found for: ${given.ref}`);
  const now = call.world.clock.now();
  const run: Run = {
    id: call.world.nextId(),
    workflow: workflow.id,
    number: repo.runs.length + 1,
    branch,
    sha,
    event: 'workflow_dispatch',
    attempt: 1,
    status: 'queued',
    conclusion: null,
    createdAt: now,
    updatedAt: now,
    jobs: [],
  };
  repo.runs.push(run);
  commitAct(call, repo, {
    kind: 'run.dispatched',
    id: run.id,
    content: { workflow: workflow.id, ...given },
  });
  const withDetails = call.version >= '2026-03-10' || given.return_run_details === true;
  if (!withDetails) return { status: 204 };
  const html = `https://github.com/${repo.fullName}/actions/runs/${run.id}`;
  return { json: { workflow_run_id: run.id, run_url: '', html_url: html } };
}
