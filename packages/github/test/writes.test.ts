import { describe, expect, test } from 'vitest';
import type { FaultKind } from '@toolkeel/sandbox';
import { closeAfterEach, world, type Data, type Rig } from './support/rig.js';

closeAfterEach();

const headSha = async (rig: Rig, repo: string, number: number): Promise<string> => {
  const { pull } = await rig.data('get_pull', { repo, number });
  return (pull as unknown as { head_sha: string }).head_sha;
};

const numberOf = (data: Data): number =>
  (data as unknown as { pull: { number: number } }).pull.number;

describe('issues and comments', () => {
  test('creates, comments and updates, with a marker that no answer shows', async () => {
    const { rig, repo, github } = await world();
    const args = { repo, title: 'Leak', body: 'It leaks.', labels: ['bug'] };
    const { issue } = await rig.data('create_issue', args);
    const { number } = issue as unknown as { number: number };
    await rig.data('comment', { repo, number, body: 'Confirmed.' });
    const seen = await rig.data('get_issue', { repo, number });
    expect(seen).toMatchObject({
      issue: { title: 'Leak', body: 'It leaks.', labels: ['bug'] },
      comments: [{ body: 'Confirmed.' }],
    });
    const [created] = github.commits({ kind: 'issue.created' });
    expect(created?.content).toMatch(/<!-- toolkeel:op_[\w-]+ -->/);
    const closed = await rig.data('update_issue', { repo, number, state: 'closed', labels: [] });
    expect(closed).toMatchObject({ issue: { state: 'closed', labels: [] } });
  });

  test('silently dropped labels and assignees are reported', async () => {
    const { rig, github } = await world();
    const { owner, readOnlyRepo, outsider } = github.landmarks;
    const repo = `${owner}/${readOnlyRepo}`;
    const created = await rig.data('create_issue', {
      repo,
      title: 'Dim',
      labels: ['bug'],
      assignees: [outsider],
    });
    expect(created['warnings']).toEqual([
      expect.stringContaining('labels without an error: bug'),
      expect.stringContaining(`assignees without an error: ${outsider}`),
    ]);
  });

  test('issue and PR numbers are not confused with ids', async () => {
    const { rig, repo, github } = await world();
    const related = await rig.data('relate_issues', { repo, number: 1, add: [2, 3] });
    expect(related).toMatchObject({ added: [2, 3], sub_issues: [2, 3] });
    const again = await rig.data('relate_issues', { repo, number: 1, add: [3, 4], remove: [2] });
    expect(again).toMatchObject({ added: [4], removed: [2], sub_issues: [3, 4] });
    expect(github.commits().map(({ kind, id }) => [kind, id])).toEqual([
      ['sub-issue.added', 2],
      ['sub-issue.added', 3],
      ['sub-issue.added', 4],
      ['sub-issue.removed', 2],
    ]);
    const id = 2_000_000_012;
    expect(await rig.error('get_issue', { repo, number: id })).toMatchObject({ code: 'not_found' });
    expect(await rig.error('get_pull', { repo, number: 7 })).toMatchObject({ code: 'not_found' });
  });

  test('sub-issues that GitHub refuses are warnings beside those that it accepts', async () => {
    const { rig, repo, github } = await world();
    github.setFaults([{ kind: 'github-403-bare', routes: ['add-sub-issue'], times: 1 }]);
    expect(await rig.data('relate_issues', { repo, number: 1, add: [2, 3] })).toMatchObject({
      added: [3],
      sub_issues: [3],
      warnings: [expect.stringContaining('Sub-issue #2 was not changed')],
    });
    // A 404 is no proof that it is gone.
    github.setFaults([{ kind: 'http-404', routes: ['remove-sub-issue'], times: 1 }]);
    const remove = { repo, number: 1, remove: [3] };
    expect(await rig.error('relate_issues', remove)).toMatchObject({ code: 'not_found' });
    expect(await rig.data('relate_issues', remove)).toMatchObject({ removed: [3] });
  });

  test('a review is submitted, never pending, with its comments', async () => {
    const { rig, repo, github, another } = await world();
    const { pull, collaborator } = github.landmarks;
    const reviewer = await another({}, github.issueToken({ login: collaborator }));
    const review = await reviewer.data('submit_review', {
      repo,
      number: pull,
      event: 'approve',
      comments: [{ path: 'src/quay.ts', line: 1, body: 'Seven is fine.' }],
    });
    expect(review).toMatchObject({ state: 'APPROVED', body: '' });
    const threads = await rig.data('get_pull_discussion', { repo, number: pull, kind: 'threads' });
    const all = threads['entries'] as unknown as {
      thread_id: string;
      comments: { comment_id: number }[];
    }[];
    const last = all.at(-1);
    const reply = {
      repo,
      number: pull,
      comment_id: last?.comments[0]?.comment_id,
      body: 'Thanks.',
    };
    await rig.data('reply_review_comment', reply);
    const thread_id = last?.thread_id;
    expect(await rig.data('resolve_thread', { thread_id })).toEqual({ thread_id, resolved: true });
    const own = await rig.error('submit_review', { repo, number: pull, event: 'approve' });
    expect(own).toMatchObject({
      code: 'upstream_rejected',
      outcome: 'not_executed',
      message: expect.stringContaining('Can not approve your own pull request'),
    });
  });
});

describe('branches and pull requests', () => {
  test('a PR created whose reviewers are refused is returned', async () => {
    const { rig, repo, github } = await world();
    const { featureBranch: head, outsider } = github.landmarks;
    const args = {
      repo,
      title: 'Tides',
      head,
      base: 'main',
      labels: ['docs'],
      reviewers: [outsider],
    };
    const created = await rig.data('create_pull', args);
    expect(created).toMatchObject({
      pull: { title: 'Tides', labels: ['docs'] },
      warnings: [expect.stringContaining('Reviews may only be requested from collaborators')],
    });
  });

  test('an existing PR, branch and release are returned', async () => {
    const { rig, repo, github, another } = await world();
    const repeating = await another();
    const { featureBranch: head } = github.landmarks;
    const pull = { repo, title: 'Tides', head, base: 'main' };
    const first = await rig.data('create_pull', pull);
    const second = await rig.data('create_pull', { ...pull, title: 'Tides again' });
    expect(second).toMatchObject({ replayed: true, pull: { title: 'Tides' } });
    expect(second).toMatchObject({ pull: { number: numberOf(first) } });
    const branch = await rig.data('create_branch', { repo, branch: 'topic', from: head });
    expect(await repeating.data('create_branch', { repo, branch: 'topic', from: head })).toEqual({
      ...branch,
      replayed: true,
    });
    expect(await rig.error('create_branch', { repo, branch: 'topic', from: 'main' })).toMatchObject(
      {
        code: 'github_conflict',
        details: { sha: branch['sha'] },
      },
    );
    const release = { repo, tag: 'v1.0.0', name: 'Again' };
    expect(await rig.data('create_release', release)).toMatchObject({
      replayed: true,
      release: { name: 'First tide' },
    });
    expect(await rig.data('create_release', { repo, tag: 'v2.0.0' })).toMatchObject({
      release: { tag: 'v2.0.0' },
    });
  });

  test('a moved head stops a merge', async () => {
    const { rig, repo, github, another } = await world();
    const { pull: number } = github.landmarks;
    const head_sha = await headSha(rig, repo, number);
    github.setFaults([{ kind: 'github-head-moves', routes: ['merge-pull'], times: 1 }]);
    const error = await rig.error('merge_pull', { repo, number, head_sha });
    expect(error).toMatchObject({ code: 'github_conflict', outcome: 'not_executed' });
    expect(github.commits({ kind: 'pull.merged' })).toEqual([]);
    const moved = await headSha(rig, repo, number);
    expect(error).toMatchObject({ details: { head_sha: moved } });
    const merged = await rig.data('merge_pull', { repo, number, head_sha: moved });
    expect(merged).toMatchObject({ merged: true, number });
    const repeating = await another();
    expect(await repeating.data('merge_pull', { repo, number, head_sha: moved })).toMatchObject({
      merged: true,
      replayed: true,
    });
  });

  test('a base that moved during a merge is tried again; a conflict is not', async () => {
    const { rig, repo, github } = await world();
    const { pull: number, conflictingPull } = github.landmarks;
    const head_sha = await headSha(rig, repo, number);
    github.setFaults([{ kind: 'github-branch-moves', routes: ['merge-pull'], times: 1 }]);
    expect(await rig.data('merge_pull', { repo, number, head_sha })).toMatchObject({
      merged: true,
    });
    const conflicting = await headSha(rig, repo, conflictingPull);
    expect(
      await rig.error('merge_pull', { repo, number: conflictingPull, head_sha: conflicting }),
    ).toMatchObject({ code: 'upstream_rejected', message: expect.stringContaining('conflicts') });
  });

  test('a change without an answer is not reported as undone, nor the old state as the new one', async () => {
    const { rig, repo, github } = await world();
    const { pull: number, collaborator } = github.landmarks;
    github.setFaults([
      { kind: 'acted-http-502', routes: ['update-pull'] },
      { kind: 'http-502', routes: ['pull'], skip: 1 },
    ]);
    const args = { repo, number, title: 'New', add_reviewers: [collaborator] };
    expect((await rig.data('update_pull', args))['warnings']).toEqual([
      expect.stringContaining('fields may not have been changed'),
      expect.stringContaining('This is the state before the change'),
    ]);
  });

  test('updates the parts that it can, and warns of the rest', async () => {
    const { rig, repo, github } = await world();
    const { pull: number, collaborator, outsider } = github.landmarks;
    const updated = await rig.data('update_pull', {
      repo,
      number,
      title: 'Longer berths',
      draft: true,
      auto_merge: 'squash',
      add_reviewers: [outsider],
    });
    expect(updated).toMatchObject({
      pull: { title: 'Longer berths', draft: true, auto_merge: 'squash' },
      warnings: [expect.stringContaining('reviewers was not changed')],
    });
    const more = { repo, number, draft: false, auto_merge: 'off', add_reviewers: [collaborator] };
    const { pull } = await rig.data('update_pull', more);
    expect(pull).toMatchObject({ reviewers: [collaborator] });
    expect(pull).not.toHaveProperty('draft');
    expect(pull).not.toHaveProperty('auto_merge');
    const none = { repo, number, add_reviewers: [outsider] };
    expect(await rig.error('update_pull', none)).toMatchObject({ code: 'upstream_rejected' });
  });
});

describe('commit_files', () => {
  const message = 'Change files';

  test('executable bit and empty file survive a commit', async () => {
    const { rig, repo, github } = await world();
    const { executable, emptyFile } = github.landmarks;
    const committed = await rig.data('commit_files', {
      repo,
      branch: 'main',
      message,
      files: [
        { path: executable, content: '#!/bin/sh\necho tight\n' },
        { path: 'bin/new.sh', content: 'echo\n', executable: true },
        { path: 'empty.txt', content: '' },
        { path: 'logo.bin', content: 'AAEC/w==', base64: true },
        { path: 'package.json' },
      ],
    });
    expect(committed).toMatchObject({ branch: 'main', files: 5 });
    const modes = github.fileModes('main');
    expect(modes).toMatchObject({
      [executable]: '100755',
      'bin/new.sh': '100755',
      'empty.txt': '100644',
      'logo.bin': '100644',
      [emptyFile]: '100644',
    });
    expect(modes).not.toHaveProperty('package.json');
    expect(github.readFile('main', 'empty.txt')).toBe('');
    expect(github.commits()).toMatchObject([{ kind: 'ref.updated' }]);
  });

  test('a branch that moved during a commit is rebuilt', async () => {
    const { rig, repo, github } = await world();
    github.setFaults([{ kind: 'github-branch-moves', times: 2, routes: ['update-ref'] }]);
    const files = [{ path: 'src/new.ts', content: 'export {};\n' }];
    const committed = await rig.data('commit_files', { repo, branch: 'main', message, files });
    expect(committed).toMatchObject({ rebased: true });
    expect(
      Object.keys(github.fileModes('main')).filter((path) => /^(elsewhere|src\/new)/.test(path)),
    ).toHaveLength(3);
    expect(github.commits({ kind: 'ref.updated' })).toHaveLength(1);
  });

  test('a commit is refused when the same path changed, or the branch keeps moving', async () => {
    const { rig, repo, github } = await world();
    const before = (await rig.data('list_commits', { repo, limit: 1 }))[
      'commits'
    ] as unknown as Data[];
    const head_sha = before[0]?.['sha'];
    github.moveBranch('main', 'README.md');
    const commit = (path: string) =>
      rig.error('commit_files', {
        repo,
        branch: 'main',
        message,
        head_sha,
        files: [{ path, content: 'x' }],
      });
    expect(await commit('README.md')).toMatchObject({
      code: 'github_conflict',
      outcome: 'not_executed',
      message: expect.stringContaining('changed README.md'),
    });
    github.setFaults([{ kind: 'github-branch-moves', routes: ['update-ref'] }]);
    expect(await commit('src/other.ts')).toMatchObject({ code: 'github_conflict' });
    expect(github.commits()).toEqual([]);
  });

  test.for([
    [[{ path: '../x', content: '' }], 'invalid_input'],
    [[{ path: '/x', content: '' }], 'invalid_input'],
    [
      [
        { path: 'x', content: 'a' },
        { path: 'x', content: 'b' },
      ],
      'invalid_input',
    ],
    [[{ path: 'x', content: '%%', base64: true }], 'invalid_input'],
    [[{ path: 'does/not/exist' }], 'not_found'],
  ] as const)('refuses %j with %s and changes nothing', async ([files, code]) => {
    const { rig, repo, github } = await world();
    const args = { repo, branch: 'main', message, files };
    expect(await rig.error('commit_files', args)).toMatchObject({ code });
    expect(github.commits()).toEqual([]);
  });

  test('the same content is no commit, and an unknown branch is not found', async () => {
    const { rig, repo, github } = await world();
    const files = [{ path: 'CHANGELOG.md', content: github.readFile('main', 'CHANGELOG.md') }];
    const args = { repo, branch: 'main', message, files };
    expect(await rig.data('commit_files', args)).toMatchObject({ unchanged: true });
    expect(await rig.error('commit_files', { ...args, branch: 'nope' })).toMatchObject({
      code: 'not_found',
    });
    expect(github.commits()).toEqual([]);
  });
});

describe('workflow runs', () => {
  test('starts a workflow and returns the run', async () => {
    const { rig, repo, github } = await world();
    const { workflow } = github.landmarks;
    const started = await rig.data('run_workflow', { repo, workflow, ref: 'main' });
    const run_id = started['run_id'];
    expect(await rig.data('get_run', { repo, run_id })).toMatchObject({
      run: { event: 'workflow_dispatch', status: 'queued' },
    });
  });

  test('reruns a run only from the attempt that the caller saw', async () => {
    const { rig, repo, github, another } = await world();
    const { failedRun: run_id, runningRun } = github.landmarks;
    const rerun = { repo, run_id, action: 'rerun_failed' };
    expect(await rig.data('rerun_or_cancel_run', { ...rerun, attempt: 1 })).toMatchObject({
      attempt: 2,
    });
    const repeating = await another();
    expect(await repeating.error('rerun_or_cancel_run', { ...rerun, attempt: 1 })).toMatchObject({
      code: 'github_conflict',
      details: { attempt: 2 },
    });
    const cancel = { repo, run_id: runningRun, attempt: 1, action: 'cancel' };
    expect(await rig.data('rerun_or_cancel_run', cancel)).toMatchObject({ action: 'cancel' });
  });
});

describe('lost answers', () => {
  const lost: readonly FaultKind[] = [
    'reset-after-read',
    'acted-http-502',
    'half-body',
    'acted-http-500',
  ];
  const acts: readonly (readonly [
    tool: string,
    route: string,
    args: (world: Landmarks, rig: Rig, repo: string) => object | Promise<object>,
  ])[] = [
    ['create_issue', 'create-issue', () => ({ title: 'Lost' })],
    ['comment', 'create-comment', ({ issue: number }) => ({ number, body: 'Lost' })],
    [
      'submit_review',
      'create-review',
      ({ pull: number }) => ({ number, event: 'comment', body: 'Lost' }),
    ],
    ['create_branch', 'create-ref', () => ({ branch: 'lost' })],
    [
      'reply_review_comment',
      'reply-review-comment',
      async ({ pull: number }, rig, repo) => {
        const threads = { repo, number, kind: 'threads' };
        const [thread] = (await rig.data('get_pull_discussion', threads))['entries'] as unknown as {
          comments: { comment_id: number }[];
        }[];
        return { number, comment_id: thread?.comments[0]?.comment_id, body: 'Lost' };
      },
    ],
    [
      'create_pull',
      'create-pull',
      ({ featureBranch: head }) => ({ title: 'Lost', head, base: 'main' }),
    ],
    ['create_release', 'create-release', () => ({ tag: 'v9' })],
    [
      'commit_files',
      'update-ref',
      () => ({ branch: 'main', message: 'Lost', files: [{ path: 'lost.txt', content: 'x' }] }),
    ],
  ];
  interface Landmarks {
    readonly issue: number;
    readonly pull: number;
    readonly featureBranch: string;
  }

  test.for(acts)(
    '%s is found again, once, after every kind of lost answer',
    async ([tool, route, args]) => {
      for (const kind of lost) {
        const { rig, repo, github } = await world();
        github.setFaults([{ kind, routes: [route], times: 1 }]);
        const envelope = await rig.run(tool, {
          repo,
          ...(await args(github.landmarks, rig, repo)),
        });
        expect([kind, envelope]).toMatchObject([kind, { success: true }]);
        expect(github.duplicates()).toEqual([]);
      }
    },
  );

  test('an act that was not executed is settled as such when GitHub cannot execute it any more', async () => {
    const checks = acts.map(async ([tool, route, args]) => {
      const { rig, repo, github } = await world();
      github.setFaults([{ kind: 'http-502', routes: [route], times: 1 }]);
      const given = { repo, ...(await args(github.landmarks, rig, repo)) };
      const sent = (): number =>
        github.log({ route }).filter(({ method }) => method !== 'GET').length;
      const attempt = async () => {
        const envelope = await rig.run(tool, given);
        const code = envelope.success ? 'success' : envelope.error.code;
        return [code, sent(), github.commits().length];
      };
      const first = await attempt();
      rig.later(29_000);
      const early = await attempt();
      rig.later(2_000);
      return { tool, answers: [first, early, await attempt()] };
    });
    const unknown = ['outcome_unknown', 1, 0];
    // Only GitHub's refusal to repeat a write makes its absence a proof; a marker may still appear.
    const isMarked = (tool: string) => /issue|comment|review|reply/.test(tool);
    expect(await Promise.all(checks)).toEqual(
      acts.map(([tool]) => ({
        tool,
        answers: [unknown, unknown, isMarked(tool) ? unknown : ['success', 2, 1]],
      })),
    );
  });

  test('an operator decides when a missing marker is a proof', async () => {
    const { rig, repo, github } = await world({}, { reconcile: { authoritativeAfterSecs: 60 } });
    github.setFaults([{ kind: 'http-502', routes: ['create-issue'], times: 1 }]);
    const args = { repo, title: 'Never' };
    expect(await rig.error('create_issue', args)).toMatchObject({ code: 'outcome_unknown' });
    rig.later(61_000);
    expect(await rig.data('create_issue', args)).toHaveProperty('issue.number');
    expect(github.commits({ kind: 'issue.created' })).toHaveLength(1);
  });

  test('a rerun and a cancellation whose answers are lost are found by the state of the run', async () => {
    const { rig, repo, github } = await world();
    const { failedRun, runningRun } = github.landmarks;
    const lose = () =>
      github.setFaults([
        { kind: 'reset-after-read', routes: ['rerun', 'rerun-failed', 'cancel-run'], times: 1 },
      ]);
    lose();
    const rerun = { repo, run_id: failedRun, attempt: 1, action: 'rerun_failed' };
    expect(await rig.data('rerun_or_cancel_run', rerun)).toMatchObject({ attempt: 2 });
    lose();
    const cancel = { repo, run_id: runningRun, attempt: 1, action: 'cancel' };
    expect(await rig.data('rerun_or_cancel_run', cancel)).toMatchObject({ action: 'cancel' });
    expect(github.duplicates()).toEqual([]);
  });

  test('a cancellation that is not visible yet stays unknown, however late', async () => {
    const { rig, repo, github } = await world();
    const { runningRun: run_id } = github.landmarks;
    github.setFaults([{ kind: 'http-502', routes: ['cancel-run'], times: 1 }]);
    const cancel = { repo, run_id, attempt: 1, action: 'cancel' };
    expect(await rig.error('rerun_or_cancel_run', cancel)).toMatchObject({
      code: 'outcome_unknown',
    });
    rig.later(60_000);
    expect(await rig.error('rerun_or_cancel_run', cancel)).toMatchObject({
      code: 'outcome_unknown',
    });
  });

  test('a merge whose answer is lost is found by its state', async () => {
    const { rig, repo, github } = await world();
    const { pull: number } = github.landmarks;
    const head_sha = await headSha(rig, repo, number);
    github.setFaults([{ kind: 'reset-after-read', routes: ['merge-pull'], times: 1 }]);
    expect(await rig.data('merge_pull', { repo, number, head_sha })).toMatchObject({
      merged: true,
    });
    expect(github.commits({ kind: 'pull.merged' })).toHaveLength(1);
  });

  test('a started workflow without its answer stays unknown', async () => {
    const { rig, repo, github } = await world();
    github.setFaults([{ kind: 'reset-after-read', routes: ['dispatch-workflow'], times: 1 }]);
    const args = { repo, workflow: github.landmarks.workflow, ref: 'main' };
    expect(await rig.error('run_workflow', args)).toMatchObject({ code: 'outcome_unknown' });
    expect(github.commits({ kind: 'run.dispatched' })).toHaveLength(1);
  });

  test('a connection that was refused was not sent, and the repeat succeeds', async () => {
    const { rig, repo, github } = await world();
    await rig.data('get_context');
    await github.setReachable(false);
    const args = { repo, title: 'Refused' };
    expect(await rig.error('create_issue', args)).toMatchObject({
      code: 'upstream_unavailable',
      outcome: 'not_executed',
    });
    await github.setReachable(true);
    expect(await rig.data('create_issue', args)).toHaveProperty('issue.number');
  });

  test('without markers a lost answer stays unknown', async () => {
    const { rig, repo, github } = await world({}, { markers: false });
    github.setFaults([{ kind: 'reset-after-read', routes: ['create-issue'], times: 1 }]);
    const error = await rig.error('create_issue', { repo, title: 'Plain', body: 'text' });
    expect(error).toMatchObject({ code: 'outcome_unknown' });
    expect(github.commits()[0]?.content).toBe('{"title":"Plain","body":"text"}');
  });
});
