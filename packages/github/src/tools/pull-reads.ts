import type { CallContext } from '@toolkeel/pack-kit';
import { githubTool, listPage, listTool, repoOf, member, type Kit } from './kit.js';
import { documented } from '../client/document.js';
import { rejectionOf } from '../client/faults.js';
import { bytesIn, clip, fileOf, jobOf, reviewOf, runOf, type Schemas } from './present.js';
import * as specs from './specs/index.js';
import { threadsPage } from './threads.js';

export const pullReadTools = (kit: Kit) => [diffTool(kit), discussionTool(kit)];

const MAX_DIFF = 40_000;
const TOO_LARGE = 'The diff is too large for one answer: these are its files, page by page.';

const diffTool = (kit: Kit) =>
  githubTool(specs.getPullDiff, kit, async (args, call) => {
    const { cursor } = call;
    const diff = cursor ? undefined : await wholeDiff(kit, args, call);
    if (diff !== undefined) return { diff, files: [] };
    return listPage(
      kit,
      {
        items: 'files',
        route: 'GET /repos/{owner}/{repo}/pulls/{number}/files',
        parameters: ({ repo, number }: typeof args) => ({ ...repoOf(repo), number }),
        show: fileOf,
        extra: cursor ? () => undefined : () => ({ warnings: [TOO_LARGE] }),
      },
      args,
      call,
      cursor,
    );
  });

/** Undefined if GitHub refuses the diff (406), or it does not fit an answer. */
async function wholeDiff(
  { client }: Kit,
  { repo, number }: { readonly repo: string; readonly number: number },
  call: CallContext,
): Promise<string | undefined> {
  const route = 'GET /repos/{owner}/{repo}/pulls/{number}';
  const at = { ...repoOf(repo), number };
  try {
    const accept = 'application/vnd.github.diff';
    const { data } = await client.read<string>(route, at, call, { accept, expects: 'text' });
    return bytesIn(data) <= MAX_DIFF ? data : undefined;
  } catch (cause) {
    if (rejectionOf(cause)?.status === 406) return undefined;
    throw cause;
  }
}

const discussionTool = (kit: Kit) =>
  githubTool(specs.getPullDiscussion, kit, async (args, call) => {
    const { cursor } = call;
    if (args.kind === 'threads') return threadsPage(kit, args, call, cursor);
    return listPage(
      kit,
      {
        items: 'entries',
        route: 'GET /repos/{owner}/{repo}/pulls/{number}/reviews',
        parameters: ({ repo, number }: typeof args) => ({ ...repoOf(repo), number }),
        show: reviewOf,
      },
      args,
      call,
      cursor,
    );
  });

export const actionReadTools = (kit: Kit) => [
  listTool(specs.listRuns, kit, {
    items: 'runs',
    route: 'GET /repos/{owner}/{repo}/actions/runs',
    parameters: ({ repo, branch, status, head_sha }) => ({
      ...repoOf(repo),
      branch,
      status,
      head_sha,
    }),
    itemsOf: member('workflow_runs'),
    show: (run: Schemas['workflow-run']) => runOf(run),
  }),
  githubTool(specs.getRun, kit, (args, call) =>
    listPage(
      kit,
      {
        items: 'jobs',
        route: 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs',
        parameters: ({ repo, run_id }: typeof args) => ({ ...repoOf(repo), run_id }),
        itemsOf: member('jobs'),
        show: (job: Schemas['job']) => jobOf(job),
        extra: call.cursor
          ? () => undefined
          : async () => ({ run: await readRun(kit, args, call) }),
      },
      args,
      call,
      call.cursor,
    ),
  ),
  githubTool(specs.getJobLog, kit, async ({ repo, job_id, lines }, call) => {
    const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs';
    const { data } = await kit.client.read<string>(route, { ...repoOf(repo), job_id }, call, {
      expects: 'text',
      maxBytes: MAX_LOG,
    });
    return tailOf(data, lines);
  }),
];

const MAX_LOG = 64 * 1024 * 1024;

async function readRun(
  { client }: Kit,
  { repo, run_id }: { readonly repo: string; readonly run_id: number },
  call: CallContext,
) {
  const route = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}';
  const at = { ...repoOf(repo), run_id };
  return documented(await client.read<Schemas['workflow-run']>(route, at, call), runOf);
}

/** The last lines that fit an answer, without the timestamps. */
function tailOf(log: string, wanted: number) {
  const lines = log.replace(/\r?\n$/, '').split(/\r?\n/);
  const shown: string[] = [];
  let length = 0;
  for (const line of lines.slice(-wanted).toReversed()) {
    const text = line.replace(/^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z /, '');
    const clipped = clip(text, MAX_LINE);
    length += bytesIn(clipped);
    if (length > MAX_DIFF) break;
    shown.push(clipped);
  }
  return {
    text: shown.toReversed().join('\n'),
    total_lines: lines.length,
    first_line: lines.length - shown.length + 1,
  };
}

const MAX_LINE = 2000;
