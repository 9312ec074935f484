import { describe, expect, test } from 'vitest';
import { allPages, closeAfterEach, world } from './support/rig.js';

closeAfterEach();

describe('reads', () => {
  test('every read answers with what the sandbox contains', async () => {
    const { rig, repo, github } = await world();
    const { pull, failedRun, failedJob, login } = github.landmarks;
    expect(await rig.data('get_context', { repo })).toMatchObject({
      acts_as: login,
      repo: { default_branch: 'main', permissions: expect.arrayContaining(['push']) },
    });
    expect(await rig.data('list_tree', { repo, path: 'src' })).toMatchObject({
      entries: [
        { path: 'src/berth.ts', type: 'file' },
        { path: 'src/deep', type: 'folder' },
        { path: 'src/index.ts', type: 'file' },
      ],
    });
    expect(await rig.data('list_tree', { repo, path: 'bin' })).toMatchObject({
      entries: [{ path: 'bin/moor.sh', executable: true }],
    });
    expect(await rig.data('search_code', { query: 'tide' })).toMatchObject({
      matches: [{ path: 'src/deep/nested/tide.ts' }],
    });
    expect(await rig.data('compare', { repo, base: 'main', head: 'tide-table' })).toMatchObject({
      ahead_by: 1,
      files: [{ path: 'src/tides.ts', status: 'added' }],
    });
    expect(await rig.data('get_pull', { repo, number: pull })).toMatchObject({
      pull: { number: pull, mergeable: true, head: 'seaport:longer-berths' },
    });
    expect(await rig.data('list_releases', { repo })).toMatchObject({
      releases: [{ tag: 'v1.0.0' }],
    });
    expect(await rig.data('list_notifications')).toMatchObject({
      notifications: [{ number: pull }, { number: 2 }, { number: 3 }],
    });
    expect(await rig.data('get_run', { repo, run_id: failedRun })).toMatchObject({
      run: { conclusion: 'failure', attempt: 1 },
      jobs: [{ job_id: failedJob, failed_steps: ['Run'] }],
    });
    expect(await rig.data('search_issues', { query: 'berth 7 is:issue' })).toHaveProperty('total');
    expect(await rig.data('rate_limit_status')).toHaveProperty('budgets.0.resource');
  });

  test('file text is in the first text block', async () => {
    const { rig, repo } = await world();
    const envelope = await rig.run('read_file', { repo, path: 'README.md' });
    // The host writes the envelope as the first text block (ADR 001 of the contract).
    expect(JSON.stringify(envelope)).toContain('Keeps ships in berths.');
    expect(envelope).toMatchObject({ data: { text: '# Harbor\n\nKeeps ships in berths.\n' } });
  });

  test('reads empty, binary and large files, and continues at next_line', async () => {
    const { rig, repo, github } = await world();
    const { emptyFile, binaryFile, largeFile } = github.landmarks;
    const read = (path: string, more = {}) => rig.data('read_file', { repo, path, ...more });
    expect(await read(emptyFile)).toMatchObject({ text: '', size: 0 });
    expect(await read(binaryFile)).toMatchObject({ is_binary: true, text: '' });
    const first = await read(largeFile);
    const next = first['next_line'] as unknown as number;
    expect(first).toMatchObject({ total_lines: 60_001, start_line: 1, end_line: next - 1 });
    const second = await read(largeFile, { start_line: next, end_line: next + 1 });
    expect(second).toMatchObject({ text: '2026-01-01T00:00:00Z,3.2\n2026-01-01T00:00:00Z,3.2' });
    expect(await rig.error('read_file', { repo, path: 'src' })).toMatchObject({
      code: 'upstream_rejected',
      message: expect.stringContaining('folder'),
    });
  });

  test('an unknown ref is an error, never the default branch', async () => {
    const { rig, repo } = await world();
    for (const [tool, args] of [
      ['read_file', { path: 'README.md', ref: 'nope' }],
      ['list_tree', { ref: 'nope' }],
      ['list_commits', { ref: 'nope' }],
      ['compare', { base: 'nope', head: 'main' }],
    ] as const)
      expect(await rig.error(tool, { repo, ...args })).toMatchObject({ code: 'not_found' });
  });

  test('403 and 5xx on contents never become not_found or a tree fetch', async () => {
    const { rig, repo, github } = await world();
    for (const [kind, code] of [
      ['github-403-bare', 'forbidden'],
      ['http-500', 'upstream_unavailable'],
      ['http-503', 'upstream_unavailable'],
    ] as const) {
      github.setFaults([{ kind, routes: ['contents'] }]);
      expect(await rig.error('read_file', { repo, path: 'README.md' })).toMatchObject({ code });
    }
    expect(github.counts().byRoute).not.toHaveProperty('git-tree');
  });

  test('every list has one next_token and finds all items', async () => {
    const { rig, repo, github } = await world();
    const { pull, issue, largePull } = github.landmarks;
    for (const [tool, args, items, count] of [
      ['get_pull_discussion', { repo, number: pull, kind: 'reviews' }, 'entries', 31],
      ['get_pull_discussion', { repo, number: pull, kind: 'threads', limit: 2 }, 'entries', 3],
      ['get_issue', { repo, number: issue }, 'comments', 35],
      ['list_commits', { repo }, 'commits', 41],
      ['list_runs', { repo, limit: 10 }, 'runs', 35],
      ['list_pulls', { repo, limit: 1 }, 'pulls', 3],
      ['search_issues', { query: 'berth is:issue', limit: 20 }, 'issues', 45],
      ['list_tree', { repo, recursive: true, limit: 4 }, 'entries', 17],
      ['get_pull_diff', { repo, number: largePull, limit: 100 }, 'files', 301],
      ['list_notifications', { limit: 2 }, 'notifications', 3],
    ] as const) {
      const { all } = await allPages(rig, tool, args, items);
      expect([tool, all.length]).toEqual([tool, count]);
      expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(count);
    }
  });

  test('a diff too large falls back to file pages', async () => {
    const { rig, repo, github } = await world();
    const { pull, largePull } = github.landmarks;
    const whole = await rig.data('get_pull_diff', { repo, number: pull });
    expect(whole).toMatchObject({ files: [], diff: expect.stringContaining('+++ b/src/quay.ts') });
    const pages = await rig.data('get_pull_diff', { repo, number: largePull, limit: 5 });
    expect(pages['files']).toHaveLength(5);
    expect(pages['files']).toMatchObject([
      { status: 'added', patch: expect.any(String) },
      {},
      {},
      {},
      {},
    ]);
    expect(pages['warnings']).toEqual([expect.stringContaining('too large')]);
  });

  test('an answer cut by its byte budget continues without a further request', async () => {
    const { rig, repo, github } = await world();
    const args = { repo, number: github.landmarks.issue, limit: 30 };
    const options = { byteBudget: 4096 };
    const first = await rig.run('get_issue', args, options);
    const token = first.meta.pagination?.next_token;
    const before = github.counts().byRoute['issue-comments'];
    const second = await rig.run('get_issue', { ...args, next_token: token }, options);
    expect(second.success).toBe(true);
    expect(github.counts().byRoute['issue-comments']).toBe(before);
    const ids = [first, second].flatMap(
      (one) => (one.data as { comments: { id: number }[] }).comments,
    );
    expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
  });

  test('the second page of a code search has fragments too', async () => {
    const { rig } = await world();
    const { all, pages } = await allPages(
      rig,
      'search_code',
      { query: 'export', limit: 1 },
      'matches',
    );
    expect(pages).toBeGreaterThan(1);
    for (const match of all) expect(match).toHaveProperty('fragments.0');
  });

  test('the pages of a tree are those of one state, whatever happens to the branch', async () => {
    const { rig, repo, github } = await world();
    const args = { repo, recursive: true, limit: 4 };
    const first = await rig.run('list_tree', args);
    github.moveBranch('main', 'AAA-first.md');
    const next_token = first.meta.pagination?.next_token;
    const second = await rig.run('list_tree', { ...args, next_token });
    const paths = [first, second].flatMap(
      (one) => one.data as { entries?: { path: string }[] } | null,
    );
    const names = paths.flatMap((one) => (one?.entries ?? []).map(({ path }) => path));
    expect(new Set(names).size).toBe(8);
    expect(names).not.toContain('AAA-first.md');
  });

  test('text that takes more bytes than characters fits the byte budget', async () => {
    const { rig, repo, github } = await world();
    const wide = '港の潮位表を読む。\n'.repeat(4_000);
    const files = [
      { path: 'wide.txt', content: wide },
      { path: 'min.js', content: 'é"'.repeat(40_000) },
    ];
    await rig.data('commit_files', { repo, branch: 'main', message: 'Wide', files });
    let text = '';
    for (let start_line: number | undefined = 1; start_line !== undefined;) {
      const part = await rig.data('read_file', { repo, path: 'wide.txt', start_line });
      text += `${part['text']}\n`;
      start_line = part['next_line'];
    }
    expect(text).toBe(wide);
    const { warnings } = await rig.data('read_file', { repo, path: 'min.js' });
    expect(warnings).toEqual([expect.stringContaining('Line 1 has 80000 characters')]);
    const issue = await rig.data('create_issue', { repo, title: 'Wide', body: wide });
    const { number } = issue['issue'] as unknown as { number: number };
    expect(await rig.data('get_issue', { repo, number })).toMatchObject({
      issue: { body_truncated: true, body_length: wide.length },
    });
    expect(github.readFile('main', 'wide.txt')).toBe(wide);
  });

  test('a job log comes from its link, without the token, and without timestamps', async () => {
    const { rig, repo, github } = await world();
    const log = await rig.data('get_job_log', {
      repo,
      job_id: github.landmarks.failedJob,
      lines: 2,
    });
    expect(log).toEqual({
      text: 'line 400\n##[error]Process completed with exit code 1.',
      total_lines: 401,
      first_line: 400,
    });
    const [entry] = github.log({ route: 'log-file' });
    expect(entry?.headers).not.toContain('authorization');
  });

  test('GraphQL runs queries and refuses anything else before it is sent', async () => {
    const { rig, github } = await world();
    expect(await rig.data('graphql', { query: '{ viewer { login } }' })).toEqual({
      data: { viewer: { login: github.landmarks.login } },
    });
    for (const query of [
      'mutation { resolveReviewThread(input: {threadId: "x"}) { thread { id } } }',
      'query A { viewer { login } } mutation B { x }',
      'subscription { x }',
      'fragment F on User { login }',
      '{ viewer { login }',
      '"""',
    ])
      expect(await rig.error('graphql', { query })).toMatchObject({ code: 'invalid_input' });
    expect(github.counts().byRoute['graphql']).toBe(1);
  });

  test('the rate limits come from memory and cost nothing', async () => {
    const { rig, repo, github, another } = await world();
    expect(await rig.data('rate_limit_status')).toHaveProperty('note');
    await rig.data('read_file', { repo, path: 'README.md' });
    const before = github.counts().requests;
    expect(await rig.data('rate_limit_status')).toMatchObject({
      budgets: [{ resource: 'core', limit: 5000, remaining: 4999 }],
    });
    expect(github.counts().requests).toBe(before);
    // Shared by all clients of the credential in this process.
    expect(await (await another()).data('rate_limit_status')).toHaveProperty(
      'budgets.0.remaining',
      4999,
    );
  });

  test('an unchanged resource is served from the cache at no cost', async () => {
    const { rig, repo, github } = await world();
    for (let at = 0; at < 3; at += 1) await rig.data('read_file', { repo, path: 'README.md' });
    expect(github.counts().byStatus).toMatchObject({ 200: 1, 304: 2 });
    const remaining = (await rig.data('rate_limit_status'))['budgets'] as unknown as {
      remaining: number;
    }[];
    expect(remaining[0]?.remaining).toBe(4999);
  });
});
