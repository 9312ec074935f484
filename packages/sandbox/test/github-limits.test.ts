import { describe, expect, test } from 'vitest';
import type { FaultKind } from '@toolkeel/sandbox';
import { appJwt, ask, closeGithubSandboxesAfterEach, githubSandbox } from './support/github.js';

closeGithubSandboxesAfterEach();

describe('GitHub in the sandbox: limits', () => {
  test('counts each resource by itself and refuses at zero until the reset', async () => {
    const github = await githubSandbox({ limits: { core: 2 } });
    const remaining = async () => {
      const { status, headers } = await ask(github, 'GET', 'issues/7');
      return [status, headers['x-ratelimit-remaining'], headers['x-ratelimit-resource']];
    };
    expect(await remaining()).toEqual([200, '1', 'core']);
    expect(await remaining()).toEqual([200, '0', 'core']);
    expect(await remaining()).toEqual([403, '0', 'core']);
    const search = await ask(github, 'GET', '/search/issues?q=berth');
    expect([search.status, search.headers['x-ratelimit-resource']]).toEqual([200, 'search']);
    const free = await ask(github, 'GET', '/rate_limit');
    expect(free.json['resources']).toMatchObject({ core: { remaining: 0 } });
    github.clock.advance(3_600_000);
    expect((await remaining())[1]).toBe('1');
  });

  test('limits content creation', async () => {
    const github = await githubSandbox({ secondary: { contentPerMinute: 2 } });
    const comment = () => ask(github, 'POST', 'issues/7/comments', { body: { body: 'x' } });
    await comment();
    await comment();
    const { status, headers, json } = await comment();
    expect([status, headers['retry-after']]).toEqual([403, '60']);
    expect(json['message']).toContain('secondary rate limit');
    expect(json['documentation_url']).toContain('#about-secondary-rate-limits');
    expect(github.commits()).toHaveLength(2);
    github.clock.advance(60_000);
    expect((await comment()).status).toBe(201);
  });

  test.for<readonly [FaultKind, number, readonly string[]]>([
    ['github-403-primary', 403, ['x-ratelimit-remaining', 'x-ratelimit-reset']],
    ['github-429-secondary', 429, ['retry-after']],
    ['github-403-message', 403, []],
    ['github-403-anchor', 403, []],
    ['github-403-bare', 403, []],
    ['github-401-revoked', 401, []],
  ])('%s answers %d', async ([kind, status, names]) => {
    const github = await githubSandbox({
      faults: [{ kind, retryAfter: { seconds: 7 }, times: 1 }],
    });
    const refused = await ask(github, 'POST', 'issues/7/comments', { body: { body: 'x' } });
    expect(refused.status).toBe(status);
    for (const name of names) expect(refused.headers).toHaveProperty(name);
    if (names.length === 0 && status === 403)
      for (const name of Object.keys(refused.headers)) expect(name).not.toMatch(/ratelimit|retry/);
    expect(github.commits()).toEqual([]);
    expect((await ask(github, 'GET', 'issues/7')).status).toBe(200);
  });

  test.for<readonly [FaultKind, string]>([
    ['github-graphql-primary', 'RATE_LIMITED'],
    ['github-graphql-secondary', 'RATE_LIMIT'],
    ['github-graphql-too-quickly', 'UNPROCESSABLE'],
  ])('%s answers 200 with %s', async ([kind, type]) => {
    const github = await githubSandbox({ faults: [{ kind, times: 1 }] });
    const { status, json } = await ask(github, 'POST', '/graphql', {
      body: { query: '{ viewer { login } }' },
    });
    expect([status, json['errors']]).toMatchObject([200, [{ type }]]);
  });

  test('GHES has other paths, no limits and no rate-limit headers', async () => {
    const github = await githubSandbox({ flavour: 'ghes', limits: { core: 0 } });
    const { status, headers } = await ask(github, 'GET', 'issues/7');
    expect([status, headers['x-ratelimit-remaining']]).toEqual([200, undefined]);
    expect((await ask(github, 'GET', '/rate_limit')).status).toBe(404);
    const graphql = `${new URL(github.url).origin}/api/graphql`;
    const body = { query: '{ viewer { login } }' };
    expect((await ask(github, 'POST', graphql, { body })).json).toHaveProperty('data.viewer.login');
  });

  test('acts before a fault that hides the answer, and not before one that refuses', async () => {
    const github = await githubSandbox();
    const comment = () => ask(github, 'POST', 'issues/7/comments', { body: { body: 'x' } });
    github.setFaults([{ kind: 'acted-http-502', times: 1 }]);
    expect((await comment()).status).toBe(502);
    expect(github.commits()).toHaveLength(1);
    github.setFaults([{ kind: 'http-502', times: 1 }]);
    expect((await comment()).status).toBe(502);
    expect(github.commits()).toHaveLength(1);
    github.setFaults([{ kind: 'reset-after-read', times: 1 }]);
    await expect(comment()).rejects.toThrow();
    expect(github.commits()).toHaveLength(2);
  });
});

describe('GitHub in the sandbox: credentials', () => {
  test('verifies the JWT of an App, and its times by its own clock', async () => {
    const github = await githubSandbox();
    const app = (token: string) => ask(github, 'GET', '/app', { token });
    github.app();
    expect((await app(appJwt(github, Date.now()))).status).toBe(200);
    expect((await app(appJwt(github, Date.now(), 700))).status).toBe(401);
    expect((await app(`${appJwt(github, Date.now())}x`)).json['message']).toContain('decoded');
    github.clock.advance(-120_000);
    const early = await app(appJwt(github, Date.now()));
    expect([early.status, early.json['message']]).toEqual([401, expect.stringContaining('iat')]);
    expect(Date.parse(String(early.headers['date']))).toBeLessThan(Date.now() - 100_000);
  });

  test('installation tokens are scoped, expire and can be revoked', async () => {
    const github = await githubSandbox();
    const { installationId } = github.app();
    const mint = async (body: object) =>
      (
        await ask(github, 'POST', `/app/installations/${installationId}/access_tokens`, {
          token: appJwt(github, github.clock.now()),
          body,
        })
      ).json['token'] as unknown as string;
    const token = await mint({ permissions: { issues: 'read' } });
    const read = () => ask(github, 'GET', 'issues/7', { token });
    expect((await read()).status).toBe(200);
    const write = await ask(github, 'POST', 'issues/7/comments', { token, body: { body: 'x' } });
    expect([write.status, write.headers['x-accepted-github-permissions']]).toEqual([
      403,
      'issues=write',
    ]);
    github.clock.advance(3_600_000);
    expect((await read()).status).toBe(401);
    const second = await mint({});
    expect((await ask(github, 'GET', 'issues/7', { token: second })).status).toBe(200);
    expect(github.revokeToken(second)).toBe(true);
    expect((await ask(github, 'GET', 'issues/7', { token: second })).status).toBe(401);
  });

  test('moves the head of a pull request or its base while a merge arrives', async () => {
    const github = await githubSandbox();
    const { pull } = github.landmarks;
    const before = await ask(github, 'GET', `pulls/${pull}`);
    const { sha } = before.json['head'] as unknown as { sha: string };
    const merge = async () =>
      (await ask(github, 'PUT', `pulls/${pull}/merge`, { body: { sha } })).status;
    github.setFaults([{ kind: 'github-branch-moves', times: 1 }]);
    expect(await merge()).toBe(405);
    github.setFaults([{ kind: 'github-head-moves', times: 1 }]);
    expect(await merge()).toBe(409);
    expect(github.commits()).toEqual([]);
  });
});
