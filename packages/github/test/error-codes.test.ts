import type { PackDeps } from '@toolkeel/contract';
import {
  createPackRig,
  faultMatrix,
  fuzzTools,
  observeCodes,
  startScriptedUpstream,
  upstreamFaults,
  type PackRig,
  type ReceivedRequest,
  type Reply,
  type ScriptedUpstream,
} from '@toolkeel/pack-kit/testing';
import { describe, expect, test } from 'vitest';
import { createGitHubPack, github } from '../src/index.js';
import { allToolsets, closeAfterEach, onClose } from './support/rig.js';

closeAfterEach();

const repo = 'o/r';
const sha = 'a'.repeat(40);

/** Arguments with which each tool sends a request. Number 2 is what writes read first. */
const argumentsOf: Readonly<Record<string, object>> = {
  get_context: { repo },
  read_file: { repo, path: 'a' },
  list_tree: { repo },
  search_code: { query: 'a' },
  list_commits: { repo },
  compare: { repo, base: 'a', head: 'b' },
  search_issues: { query: 'a' },
  get_issue: { repo, number: 1 },
  list_pulls: { repo },
  get_pull: { repo, number: 1 },
  get_pull_diff: { repo, number: 1 },
  get_pull_discussion: { repo, number: 1, kind: 'reviews' },
  list_releases: { repo },
  list_notifications: {},
  graphql: { query: '{ a }' },
  update_issue: { repo, number: 1, title: 'a' },
  update_pull: { repo, number: 2, title: 'a' },
  resolve_thread: { thread_id: 'a' },
  relate_issues: { repo, number: 2, add: [3] },
  mark_notification_read: { id: '1' },
  create_branch: { repo, branch: 'a' },
  commit_files: { repo, branch: 'main', message: 'a', files: [{ path: 'a', content: 'b' }] },
  create_pull: { repo, title: 'a', head: 'a', base: 'b' },
  merge_pull: { repo, number: 1, head_sha: sha },
  submit_review: { repo, number: 1, event: 'approve' },
  create_issue: { repo, title: 'a' },
  comment: { repo, number: 1, body: 'a' },
  reply_review_comment: { repo, number: 1, comment_id: 1, body: 'a' },
  create_release: { repo, tag: 'a' },
  list_runs: { repo },
  get_run: { repo, run_id: 1 },
  get_job_log: { repo, job_id: 1 },
  run_workflow: { repo, workflow: 'a.yml', ref: 'main' },
  rerun_or_cancel_run: { repo, run_id: 2, attempt: 1, action: 'rerun' },
};

const pull = {
  number: 2,
  node_id: 'PR_1',
  draft: false,
  labels: [],
  requested_reviewers: [],
  head: { ref: 'a', label: 'o:a', sha },
  base: { ref: 'main' },
};

/** The reads before a write, and the git objects that are not visible without a ref. */
const healthy = ({ method, path }: ReceivedRequest): Reply | undefined =>
  ({
    'GET /user': { json: { id: 1, login: 'me' } },
    'GET /repos/o/r/pulls/2': { json: pull },
    'GET /repos/o/r/issues/2/sub_issues': { json: [] },
    'GET /repos/o/r/issues/3': { json: { id: 30 } },
    'GET /repos/o/r/commits/HEAD': { text: sha },
    'GET /repos/o/r/git/ref/heads%2Fmain': { json: { object: { sha } } },
    [`GET /repos/o/r/git/commits/${sha}`]: { json: { tree: { sha: 't0' } } },
    'GET /repos/o/r/git/trees/t0': { json: { tree: [] } },
    'POST /repos/o/r/git/trees': { json: { sha: 't1' } },
    'POST /repos/o/r/git/commits': { json: { sha: 'c1' } },
    'GET /repos/o/r/compare/c1...main': { json: { status: 'diverged' } },
    'GET /repos/o/r/actions/runs/2': { json: { id: 2, run_attempt: 1 } },
  })[`${method} ${path}`];

let started = 0;

const start = (
  { origin }: Pick<ScriptedUpstream, 'origin'>,
  more: object = {},
  deps: Partial<PackDeps> = {},
) => {
  // A token of its own, because ports are reused and limits are kept by host and credential.
  const env = { TOKEN: `ghp_secret_${(started += 1)}` };
  const config = {
    baseUrl: origin,
    token: { env: 'TOKEN' },
    toolsets: [...allToolsets.toolsets],
    pacing: { mutationIntervalMs: 0 },
    maxRetries: 0,
    toolTimeoutSecs: 8,
    attemptTimeoutSecs: 2,
    ...more,
  };
  return createPackRig(createGitHubPack({ env }), config, deps);
};

const codes: Readonly<Record<string, string>> = {
  connect: 'upstream_unavailable',
  network: 'upstream_unavailable',
  timeout: 'timeout',
  bad_response: 'upstream_unavailable',
  server: 'upstream_unavailable',
  rate_limited: 'rate_limited',
  auth: 'unauthorized',
};
const rejections: Readonly<Record<string, string>> = {
  '400': 'upstream_rejected',
  '403': 'forbidden',
  '404': 'not_found',
};

const specs = github.describe().filter(({ name }) => name !== 'github_rate_limit_status');
const bare = (tool: string): string => tool.replace('github_', '');
/** Their answers are text, so one that is not JSON is an answer. */
const texts = ['github_get_pull_diff', 'github_get_job_log'];

describe('the contract of every tool', () => {
  test('every tool answers every fault with its code and outcome, and writes once', async () => {
    const run = (isText: boolean) =>
      faultMatrix({
        specs: specs.filter(({ name }) => texts.includes(name) === isText),
        argumentsOf: (tool) => argumentsOf[bare(tool)],
        start: (upstream) => start(upstream),
        healthy,
        maxRetries: 0,
        faults: upstreamFaults.filter(({ name }) => !(isText && name === 'not JSON')),
        codeOf: ({ kind, name, sent }, { effect }) => {
          const isRefusal = ['rate_limited', 'auth', 'rejected'].includes(kind);
          if (effect === 'once' && sent !== 'no' && !isRefusal) return 'outcome_unknown';
          return codes[kind] ?? rejections[name] ?? '';
        },
      });
    const cells = [...(await run(false)), ...(await run(true))];
    expect(cells).toHaveLength(specs.length * upstreamFaults.length - texts.length);
  }, 120_000);

  test('an answer without what it should contain is no result, and a write stays unknown', async () => {
    // They need nothing of the answer, or take any text.
    const indifferent = ['create_branch', 'commit_files', 'run_workflow', 'rerun_or_cancel_run'];
    const others = ['relate_issues', 'update_pull', 'mark_notification_read', ...texts];
    const names = [...indifferent, ...others].map((name) => `github_${bare(name)}`);
    const reading = specs.filter(({ name }) => !names.includes(name));
    const unusable = (name: string, json: unknown) =>
      ({ name, kind: 'bad_response', sent: 'answered', reply: { json } }) as const;
    const cells = await faultMatrix({
      specs: reading,
      argumentsOf: (tool) => argumentsOf[bare(tool)],
      start: (upstream) => start(upstream),
      healthy,
      maxRetries: 0,
      faults: [unusable('empty object', {}), unusable('number', 7)],
      codeOf: (_, { effect }) => (effect === 'once' ? 'outcome_unknown' : 'upstream_unavailable'),
    });
    expect(cells).toHaveLength(reading.length * 2);
  });

  test('a commit whose objects GitHub does not name is neither made nor called unchanged', async () => {
    for (const object of ['blobs', 'trees', 'commits']) {
      const upstream = await startScriptedUpstream((request) => {
        const isObject = request.path === `/repos/o/r/git/${object}` && request.method === 'POST';
        return isObject ? { json: {} } : (healthy(request) ?? { json: { sha } });
      });
      onClose(() => upstream.close());
      const rig = await start(upstream);
      const files = [{ path: 'a', content: 'YQ==', base64: true }];
      const args = { ...argumentsOf['commit_files'], files };
      expect([object, await rig.error('github_commit_files', args)]).toMatchObject([
        object,
        { code: 'upstream_unavailable', outcome: 'not_executed' },
      ]);
      expect(upstream.requests.map(({ method }) => method)).not.toContain('PATCH');
      await rig.close();
    }
  });

  test('error codes are exactly those that each tool declares', async () => {
    const { note, verify } = observeCodes(github.describe());
    const upstreamOf = async (reply: (request: ReceivedRequest) => Reply) => {
      const upstream = await startScriptedUpstream(reply);
      onClose(() => upstream.close());
      return upstream;
    };
    let failure: Reply = {};
    const broken = await upstreamOf((request) => healthy(request) ?? failure);
    // The breaker counts in this time: with the real one, it opens when the machine allows it.
    let now = 0;
    const frozen = { now: () => now };
    const each = async (rig: PackRig, reply: Reply, code: string, tools = specs) => {
      failure = reply;
      for (const { name } of tools) note(name, await rig.code(name, argumentsOf[bare(name)]), code);
    };
    const shared = await start(broken, {}, frozen);
    await each(shared, { status: 401, json: {} }, 'unauthorized');
    await each(shared, { status: 403, json: {} }, 'forbidden');
    await each(shared, { status: 404, json: {} }, 'not_found');
    await each(shared, { status: 409, json: {} }, 'upstream_rejected');
    await shared.close();

    for (const spec of specs) {
      // A limit holds back all requests of its credential.
      const limited = await start(broken);
      const reply = { status: 429, json: {}, headers: { 'retry-after': '99' } };
      await each(limited, reply, 'rate_limited', [spec]);
      await limited.close();
    }

    // Without a journal a `once` tool has no read-back; its outcome is the cause itself.
    const repeatable = specs.filter(({ effect }) => effect !== 'once');
    const failing = await start(broken, {}, frozen);
    const unavailable = { status: 500, json: {} };
    await each(failing, unavailable, 'upstream_unavailable', repeatable);
    // Longer than the failures must last to open the circuit.
    now += 2_000;
    await each(failing, unavailable, 'upstream_unavailable', repeatable.slice(0, 1));
    await each(failing, unavailable, 'circuit_open');
    await failing.close();

    const dead = await upstreamOf(() => ({}));
    await dead.close();
    const refused = await start(dead);
    for (const { name, effect } of specs)
      if (effect === 'once') note(name, await refused.code(name, argumentsOf[bare(name)]));
    await refused.close();

    const none = await start(dead, { token: undefined });
    for (const { name } of github.describe())
      note(name, await none.code(name, argumentsOf[bare(name)] ?? {}), 'unauthorized');
    await none.close();

    const rig = await start(
      await upstreamOf((request) =>
        request.method === 'POST' && request.path.endsWith('/git/refs')
          ? { status: 422, json: { message: 'Reference already exists' } }
          : request.path.endsWith('/merge')
            ? { status: 409, json: { message: 'Head branch was modified.' } }
            : request.path.endsWith('/pulls/1') || request.path.includes('heads%2Fa')
              ? {
                  json: {
                    ...pull,
                    head: { sha: 'moved' },
                    object: { sha: 'moved' },
                    merged: false,
                  },
                }
              : request.path.includes(`/compare/edited...${sha}`)
                ? { json: { files: [{ filename: 'a' }], behind_by: 0 } }
                : (healthy(request) ?? { json: {} }),
      ),
    );
    const conflicts = {
      create_branch: {},
      merge_pull: {},
      rerun_or_cancel_run: { attempt: 9 },
      commit_files: { head_sha: 'edited' },
    };
    for (const [name, more] of Object.entries(conflicts)) {
      const args = { ...argumentsOf[name], ...more };
      note(`github_${name}`, await rig.code(`github_${name}`, args), 'github_conflict');
    }
    for (const { name, paging } of specs) {
      if (!paging) continue;
      const args = { ...argumentsOf[bare(name)], next_token: 'forged' };
      note(name, await rig.code(name, args), 'invalid_input');
    }
    for (const [name, args] of [
      ['graphql', { query: 'mutation { a }' }],
      ['relate_issues', { repo, number: 1 }],
      ['update_issue', { repo, number: 1 }],
      ['update_pull', { repo, number: 1 }],
      ['commit_files', { repo, branch: 'a', message: 'a', files: [{ path: '..', content: '' }] }],
    ] as const)
      note(`github_${name}`, await rig.code(`github_${name}`, args), 'invalid_input');
    await rig.close();
    expect(verify).not.toThrow();
  }, 120_000);

  test('generated arguments always get a valid envelope with a declared code', async () => {
    const upstream = await startScriptedUpstream((request) => healthy(request) ?? { json: {} });
    onClose(() => upstream.close());
    const rig = await start(upstream);
    await expect(fuzzTools({ rig, upstream, runs: 40, values: [repo] })).resolves.toBeUndefined();
    await rig.close();
  }, 120_000);

  test('no answer names another endpoint through a dot', async () => {
    const upstream = await startScriptedUpstream(() => ({ json: {} }));
    onClose(() => upstream.close());
    const rig = await start(upstream);
    for (const given of ['../user', 'o/..', './r'])
      expect(await rig.code('github_get_pull', { repo: given, number: 1 })).toBe('not_found');
    expect(upstream.requests).toEqual([]);
    await rig.close();
  });
});
