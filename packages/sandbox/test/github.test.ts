import { describe, expect, test } from 'vitest';
import { ask, closeGithubSandboxesAfterEach, githubSandbox } from './support/github.js';

closeGithubSandboxesAfterEach();

describe('GitHub in the sandbox: reads', () => {
  test('pages with Link headers, by number and by cursor', async () => {
    const github = await githubSandbox();
    const first = await ask(github, 'GET', 'issues/7/comments?per_page=30');
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String(first.headers['link'])) ?? [];
    const second = await ask(github, 'GET', next);
    expect([first.json, second.json].map((page) => (page as unknown as []).length)).toEqual([
      30, 5,
    ]);
    expect(second.headers['link']).toContain('rel="prev"');
    const issues = await ask(github, 'GET', 'issues?per_page=20');
    expect(issues.headers['link']).toMatch(/after=\w+>; rel="next"$/);
    expect(issues.headers['link']).not.toMatch(/[?&]page=/);
  });

  test('a 304 costs nothing, and ETags differ by token', async () => {
    const github = await githubSandbox();
    const { headers } = await ask(github, 'GET', 'issues/7');
    const known = { 'if-none-match': String(headers['etag']) };
    const again = await ask(github, 'GET', 'issues/7', { headers: known });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(again.headers['x-ratelimit-remaining']).toBe(headers['x-ratelimit-remaining']);
    const other = await ask(github, 'GET', 'issues/7', {
      headers: known,
      token: github.issueToken(),
    });
    expect(other.status).toBe(200);
  });

  test('objects have their real git names', async () => {
    const github = await githubSandbox();
    const empty = await ask(github, 'GET', `contents/${github.landmarks.emptyFile}`);
    expect(empty.json).toMatchObject({ sha: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391', size: 0 });
  });

  test('an unknown ref, a large file and a large diff answer as GitHub does', async () => {
    const github = await githubSandbox();
    const { largeFile, largePull } = github.landmarks;
    const unknown = await ask(github, 'GET', 'contents/README.md?ref=nope');
    expect([unknown.status, unknown.json['message']]).toEqual([
      404,
      'No commit found for the ref nope',
    ]);
    const large = await ask(github, 'GET', `contents/${largeFile}`);
    expect(large.json).toMatchObject({ encoding: 'none', content: '' });
    const diff = await ask(github, 'GET', `pulls/${largePull}`, {
      headers: { accept: 'application/vnd.github.diff' },
    });
    expect(diff.status).toBe(406);
  });

  test('hides private repositories and logs only behind a link without the token', async () => {
    const github = await githubSandbox();
    const { owner, privateRepo, failedJob } = github.landmarks;
    expect((await ask(github, 'GET', `/repos/${owner}/${privateRepo}`)).status).toBe(404);
    const { status, headers } = await ask(github, 'GET', `actions/jobs/${failedJob}/logs`);
    const link = String(headers['location']);
    expect([status, new URL(link).host]).not.toEqual([302, new URL(github.url).host]);
    expect((await ask(github, 'GET', link)).status).toBe(400);
    expect((await ask(github, 'GET', link, { token: '' })).text).toContain('exit code 1');
    github.clock.advance(61_000);
    expect((await ask(github, 'GET', link, { token: '' })).status).toBe(403);
  });

  test('rejects an unknown API version and drops fields of the newer one', async () => {
    const github = await githubSandbox();
    const at = (version: string) =>
      ask(github, 'GET', `pulls/${github.landmarks.pull}`, {
        headers: { 'x-github-api-version': version },
      });
    expect((await at('1999-01-01')).status).toBe(400);
    expect((await at('2022-11-28')).json).toHaveProperty('merge_commit_sha');
    expect((await at('2026-03-10')).json).not.toHaveProperty('merge_commit_sha');
  });

  test('answers GraphQL with fragments, aliases, variables and connections', async () => {
    const github = await githubSandbox();
    const { owner, repo, pull } = github.landmarks;
    const query = `query Q($o: String!, $n: Int!) {
      me: viewer { ...Who }
      repository(owner: $o, name: "${repo}") {
        pullRequest(number: $n) { reviewThreads(first: 2) { pageInfo { hasNextPage } nodes { path isResolved } } }
      }
      missing: repository(owner: $o, name: "nope") { id }
    }
    fragment Who on User { login }`;
    const { json } = await ask(github, 'POST', '/graphql', {
      body: { query, variables: { o: owner, n: pull } },
    });
    expect(json).toMatchObject({
      data: {
        me: { login: github.landmarks.login },
        repository: {
          pullRequest: {
            reviewThreads: {
              pageInfo: { hasNextPage: true },
              nodes: [{ isResolved: false }, { isResolved: false }],
            },
          },
        },
        missing: null,
      },
      errors: [{ type: 'NOT_FOUND', path: ['missing'] }],
    });
  });
});

describe('GitHub in the sandbox: writes', () => {
  test('records every act and how often it was repeated', async () => {
    const github = await githubSandbox();
    const body = { body: 'hello' };
    await ask(github, 'POST', 'issues/7/comments', { body });
    expect(github.duplicates()).toEqual([]);
    await ask(github, 'POST', 'issues/7/comments', { body });
    expect(github.commits({ kind: 'comment.created' })).toHaveLength(2);
    expect(github.duplicates()).toMatchObject([{ kind: 'comment.created', number: 7 }]);
    const control = await ask(github, 'GET', `${github.control.url}/duplicates`);
    expect(control.json['duplicates']).toHaveLength(1);
  });

  test('drops labels and assignees silently without push access', async () => {
    const github = await githubSandbox();
    const { owner, readOnlyRepo, outsider, collaborator } = github.landmarks;
    const body = { title: 'One', labels: ['bug'], assignees: [outsider, collaborator] };
    const dropped = await ask(github, 'POST', `/repos/${owner}/${readOnlyRepo}/issues`, { body });
    expect(dropped).toMatchObject({ status: 201, json: { labels: [], assignees: [] } });
    const kept = await ask(github, 'POST', 'issues', { body });
    expect(kept.json).toMatchObject({
      labels: [{ name: 'bug' }],
      assignees: [{ login: collaborator }],
    });
  });

  test('refuses a second pull request, foreign reviewers and a moved head', async () => {
    const github = await githubSandbox();
    const { featureBranch: head, outsider, pull } = github.landmarks;
    const body = { title: 'Tides', head, base: 'main' };
    expect((await ask(github, 'POST', 'pulls', { body })).status).toBe(201);
    const second = await ask(github, 'POST', 'pulls', { body });
    expect(second.json['errors']).toMatchObject([
      { code: 'custom', message: expect.stringContaining('already exists') },
    ]);
    const reviewers = { reviewers: [outsider] };
    const refused = await ask(github, 'POST', `pulls/${pull}/requested_reviewers`, {
      body: reviewers,
    });
    expect(refused.status).toBe(422);
    const merge = { sha: '0'.repeat(40) };
    expect((await ask(github, 'PUT', `pulls/${pull}/merge`, { body: merge })).status).toBe(409);
  });

  test('commits through blobs, trees and refs, and refuses what is not a fast-forward', async () => {
    const github = await githubSandbox();
    const main = await ask(github, 'GET', 'git/ref/heads/main');
    const { sha: parent } = main.json['object'] as unknown as { sha: string };
    const base = await ask(github, 'GET', `git/commits/${parent}`);
    const tree = await ask(github, 'POST', 'git/trees', {
      body: {
        base_tree: (base.json['tree'] as unknown as { sha: string }).sha,
        tree: [
          { path: 'bin/new.sh', mode: '100755', type: 'blob', content: 'echo\n' },
          { path: 'package.json', mode: '100644', type: 'blob', sha: null },
        ],
      },
    });
    const commit = await ask(github, 'POST', 'git/commits', {
      body: { message: 'two', tree: tree.json['sha'], parents: [parent] },
    });
    github.moveBranch('main');
    const body = { sha: commit.json['sha'], force: false };
    const lost = await ask(github, 'PATCH', 'git/refs/heads/main', { body });
    expect([lost.status, lost.json['message']]).toEqual([422, 'Update is not a fast forward']);
    await ask(github, 'POST', 'git/refs', { body: { ref: 'refs/heads/two', sha: body.sha } });
    expect(github.fileModes('two')).toMatchObject({ 'bin/new.sh': '100755' });
    expect(github.fileModes('two')).not.toHaveProperty('package.json');
  });
});
