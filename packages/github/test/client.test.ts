import { systemClock } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import {
  startGithubSandbox,
  type GithubSandbox,
  type GithubSandboxOptions,
} from '@toolkeel/sandbox';
import { startScriptedUpstream } from '@toolkeel/pack-kit/testing';
import { describe, expect, test } from 'vitest';
import {
  createTokenCache,
  GitHubClient,
  InstallationClient,
  type GitHubClientOptions,
} from '../src/index.js';
import { closeAfterEach, onClose } from './support/rig.js';

closeAfterEach();

const REPO = 'GET /repos/{owner}/{repo}';
const COMMENT = 'POST /repos/{owner}/{repo}/issues/{number}/comments';

async function sandbox(options: GithubSandboxOptions = {}): Promise<GithubSandbox> {
  const github = await startGithubSandbox(options);
  onClose(() => github.close());
  return github;
}

function clientOf(github: GithubSandbox, options: GitHubClientOptions = {}): GitHubClient {
  const pacing = { mutationIntervalMs: 0, ...options.pacing };
  const client = new GitHubClient({ baseUrl: github.url, token: github.token, ...options, pacing });
  onClose(() => client.close());
  return client;
}

const at = ({ landmarks: { owner, repo } }: GithubSandbox) => ({ owner, repo });

/** A clock that moves only by `clock.advance`; sockets stay real. */
const frozen = (): VirtualClock => new VirtualClock({ epoch: Date.now() });

/** Lets sockets do their work until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe('requests', () => {
  test('sends the accept, user agent and API version headers', async () => {
    const github = await sandbox();
    await clientOf(github).getWithRetry(
      `/repos/${github.landmarks.owner}/${github.landmarks.repo}`,
    );
    expect(github.log()[0]?.headers).toEqual(
      expect.arrayContaining(['accept', 'user-agent', 'x-github-api-version', 'authorization']),
    );
    await expect(
      clientOf(github, { apiVersion: '1999-01-01' }).read(REPO, at(github)),
    ).rejects.toMatchObject({
      fault: { kind: 'rejected', status: 400 },
    });
  });

  test('getWithRetry sends the path as it is: spaces and braces included', async () => {
    const github = await sandbox();
    const client = clientOf(github);
    const { owner, repo } = at(github);
    const query = `search/issues?q=repo:${owner}/${repo} is:issue&per_page=1`;
    const { url } = await client.getWithRetry(query);
    expect(url.searchParams.get('q')).toBe(`repo:${owner}/${repo} is:issue`);
    expect(url.searchParams.get('per_page')).toBe('1');
    await expect(client.getWithRetry(`repos/${owner}/{repo}`)).rejects.toMatchObject({
      fault: { status: 404 },
    });
    expect(github.log().at(-1)?.path).toContain('%7Brepo%7D');
  });

  test('a 503 with Retry-After 5 is retried after 5 s', async () => {
    const github = await sandbox();
    const clock = frozen();
    github.setFaults([{ kind: 'http-503', retryAfter: { seconds: 5 }, times: 1 }]);
    const reading = clientOf(github, { clock }).read(REPO, at(github));
    await until(() => github.counts().byOutcome['answered'] === 1 && clock.pending > 0);
    await clock.advance(4_900);
    expect(github.counts().requests).toBe(1);
    await clock.advance(200);
    expect((await reading).status).toBe(200);
    expect(github.counts().requests).toBe(2);
  });

  test('follows a renamed repository for reads, and refuses it for writes', async () => {
    const github = await sandbox();
    const client = clientOf(github);
    const { owner, repo } = github.landmarks;
    const location = `${github.url}/repos/${owner}/${repo}`;
    github.setFaults([{ kind: 'redirect', location, times: 1 }]);
    expect((await client.read(REPO, { owner, repo: 'old' })).status).toBe(200);
    github.setFaults([{ kind: 'redirect', location, times: 1 }]);
    const write = client.once(COMMENT, { ...at(github), number: 7, body: 'x' });
    await expect(write).rejects.toMatchObject({ fault: { kind: 'rejected', status: 307 } });
    expect(github.commits()).toEqual([]);
  });

  test('never follows a link to another host', async () => {
    const [github, other] = [await sandbox(), await sandbox()];
    await expect(clientOf(github).follow(`${other.url}/user`)).rejects.toMatchObject({
      fault: { kind: 'bad_response', sent: 'no' },
    });
    expect(other.counts().requests).toBe(0);
  });

  test('never sends the credential to another host that a route names', async () => {
    const [github, other] = [await sandbox(), await sandbox()];
    const client = clientOf(github);
    for (const send of [
      () => client.read(`GET ${other.url}/user`),
      () => client.once(`POST ${other.url}/user`, {}),
    ])
      await expect(send()).rejects.toMatchObject({ fault: { kind: 'bad_response', sent: 'no' } });
    expect(other.counts().requests).toBe(0);
  });

  test('a caller that changes an answer does not change the next one', async () => {
    const github = await sandbox();
    const client = clientOf(github);
    for (let count = 0; count < 3; count += 1) {
      const { data } = await client.read<{ name?: string }>(REPO, at(github));
      expect(data.name).toBe(github.landmarks.repo);
      delete data.name;
    }
    expect(github.counts().byStatus).toMatchObject({ 200: 1, 304: 2 });
  });

  test('a list whose pages are empty ends', async () => {
    const endless = await startScriptedUpstream(({ origin, path }) => ({
      json: [],
      headers: { link: `<${origin}${path}>; rel="next"` },
    }));
    onClose(() => endless.close());
    const client = new GitHubClient({ baseUrl: endless.origin, token: 'x' });
    onClose(() => client.close());
    const all = await client.collect('GET /user/issues', {}, {}, 1000);
    const found = await client.find('GET /user/repos', {}, {}, 1000, () => true);
    expect([all.isComplete, found.isComplete, endless.requests.length]).toEqual([
      false,
      false,
      200,
    ]);
  });

  test('a hanging upstream ends at the deadline', async () => {
    const github = await sandbox();
    const clock = frozen();
    github.setFaults([{ kind: 'stall' }]);
    const reading = clientOf(github, { clock }).read(REPO, at(github), { timeoutMs: 15_000 });
    const ended = reading.catch((cause: unknown) => cause);
    await until(() => github.counts().requests === 1);
    await clock.advance(15_000);
    expect(await ended).toMatchObject({ fault: { kind: 'timeout' } });
  });

  test('collects pages by their links, cursors included', async () => {
    const github = await sandbox();
    const route = 'GET /repos/{owner}/{repo}/issues';
    const client = clientOf(github);
    const all = await client.collect(
      route,
      { ...at(github), state: 'all', per_page: 20 },
      {},
      1000,
    );
    expect([all.items.length, all.isComplete]).toEqual([48, true]);
    const some = await client.collect(route, { ...at(github), state: 'all', per_page: 20 }, {}, 30);
    expect([some.items.length, some.isComplete]).toEqual([30, false]);
  });
});

describe('limits', () => {
  const reads = (client: GitHubClient, github: GithubSandbox, count: number) =>
    Promise.allSettled(
      Array.from({ length: count }, () => client.read(REPO, at(github), { timeoutMs: 1_000 })),
    );

  test('nothing is sent inside a Retry-After window, by any client of the credential', async () => {
    const github = await sandbox();
    const client = clientOf(github);
    github.setFaults([{ kind: 'github-429-secondary', retryAfter: { seconds: 20 }, times: 1 }]);
    await expect(client.read(REPO, at(github), { timeoutMs: 1_000 })).rejects.toMatchObject({
      fault: { kind: 'rate_limited', retryAfterMs: 20_000 },
    });
    const results = [
      ...(await reads(client, github, 5)),
      ...(await reads(clientOf(github), github, 5)),
    ];
    expect(results.map(({ status }) => status)).toEqual(
      Array.from({ length: 10 }, () => 'rejected'),
    );
    expect(github.counts().requests).toBe(1);
    const other = clientOf(github, { token: github.issueToken() });
    expect((await other.read(REPO, at(github))).status).toBe(200);
  });

  test('nothing is sent while remaining is 0, and the last success is a success', async () => {
    const github = await sandbox({ limits: { core: 2 } });
    const client = clientOf(github, { pacing: { threshold: 0 } });
    await client.read(REPO, at(github));
    await client.read('GET /repos/{owner}/{repo}/issues', at(github));
    const results = await reads(client, github, 20);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(results[0]).toMatchObject({
      reason: { fault: { kind: 'rate_limited', sent: 'no', limits: [{ remaining: 0 }] } },
    });
    expect(github.counts().requests).toBe(2);
  });

  test('an abort ends the wait for a limit without time passing', async () => {
    const github = await sandbox();
    const clock = frozen();
    const client = clientOf(github, { clock });
    github.setFaults([{ kind: 'github-429-secondary', retryAfter: { seconds: 3 }, times: 1 }]);
    const controller = new AbortController();
    const reading = client.read(REPO, at(github), { signal: controller.signal });
    await until(() => github.counts().byOutcome['answered'] === 1 && clock.pending > 0);
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toMatchObject({
      fault: { kind: 'cancelled', cause: { message: 'enough' } },
    });
    expect(clock.now()).toBe(0);
  });

  test.for([
    ['github-403-primary', 'primary'],
    ['github-429-primary', 'primary'],
    ['github-403-secondary', 'secondary'],
    ['github-403-message', 'secondary'],
    ['github-403-anchor', 'secondary'],
  ] as const)('%s is a %s limit', async ([kind, limit]) => {
    const github = await sandbox();
    github.setFaults([{ kind, times: 1 }]);
    const fault = { kind: 'rate_limited', sent: 'answered', cause: { limit } };
    const reading = clientOf(github).read(REPO, at(github), { timeoutMs: 1_000 });
    await expect(reading).rejects.toMatchObject({ fault });
  });

  test('a 403 without any sign of a limit is a missing permission', async () => {
    const github = await sandbox();
    github.setFaults([{ kind: 'github-403-bare', times: 1 }]);
    await expect(clientOf(github).read(REPO, at(github))).rejects.toMatchObject({
      fault: { kind: 'rejected', status: 403 },
    });
  });

  test.for([
    ['github-graphql-primary', 'github.com'],
    ['github-graphql-secondary', 'github.com'],
    ['github-graphql-too-quickly', 'github.com'],
    ['github-graphql-primary', 'ghes'],
    ['github-403-message', 'ghes'],
  ] as const)('%s on GraphQL of %s is a limit', async ([kind, flavour]) => {
    const github = await sandbox({ flavour });
    github.setFaults([{ kind, times: 1 }]);
    const client = clientOf(github);
    const call = { timeoutMs: 1_000 };
    await expect(client.graphql('{ viewer { login } }', {}, call)).rejects.toMatchObject({
      fault: { kind: 'rate_limited' },
    });
    await expect(client.graphql('{ viewer { login } }', {}, call)).rejects.toMatchObject({
      fault: { kind: 'rate_limited', sent: 'no' },
    });
    expect(github.counts().requests).toBe(1);
  });

  test('works on GHES, which sends no rate-limit headers', async () => {
    const github = await sandbox({ flavour: 'ghes' });
    const client = clientOf(github);
    for (let count = 0; count < 3; count += 1) await client.read(REPO, at(github));
    expect(client.rateLimits()).toEqual({ budgets: [] });
    expect(await client.graphql('{ viewer { login } }', {})).toHaveProperty('data.viewer');
  });

  test('a write that a limit rejected is sent again after the wait, once', async () => {
    const github = await sandbox();
    github.setFaults([{ kind: 'github-403-secondary', retryAfter: { seconds: 1 }, times: 1 }]);
    const client = clientOf(github);
    const { status } = await client.once(COMMENT, { ...at(github), number: 7, body: 'x' });
    expect([status, github.commits().length, github.counts().requests]).toEqual([201, 1, 2]);
  });
});

describe('installations', () => {
  const installation = (
    github: GithubSandbox,
    more: Partial<GitHubClientOptions> & object = {},
  ) => {
    const client = new InstallationClient({
      baseUrl: github.url,
      ...github.app(),
      tokenCache: createTokenCache(),
      ...more,
    });
    onClose(() => client.close());
    return client;
  };
  const mints = (github: GithubSandbox): number =>
    github.counts().byRoute['create-installation-token'] ?? 0;

  test('concurrent requests share one token; PKCS#1 and PKCS#8 keys work', async () => {
    const github = await sandbox();
    const client = installation(github);
    await Promise.all([1, 2, 3].map(() => client.read(REPO, at(github))));
    expect(mints(github)).toBe(1);
    const { privateKeyPkcs8 } = github.app();
    await installation(github, { privateKey: privateKeyPkcs8 } as object).read(REPO, at(github));
    expect(mints(github)).toBe(2);
  });

  test('a revoked cached token is healed with one extra call', async () => {
    const github = await sandbox();
    const client = installation(github);
    await client.read(REPO, at(github));
    github.setFaults([{ kind: 'github-401-revoked', routes: ['issue'], times: 1 }]);
    github.clearLog();
    const issue = { ...at(github), number: 7 };
    expect((await client.read('GET /repos/{owner}/{repo}/issues/{number}', issue)).status).toBe(
      200,
    );
    expect(github.counts().byRoute).toEqual({ issue: 2, 'create-installation-token': 1 });
    github.setFaults([{ kind: 'github-401-revoked' }]);
    await expect(client.read(REPO, at(github))).rejects.toMatchObject({ fault: { kind: 'auth' } });
  });

  test('two hosts with the same installation id never share a token', async () => {
    const [one, other] = [await sandbox({ seed: 1 }), await sandbox({ seed: 2 })];
    const tokenCache = createTokenCache();
    const readOwn = (github: GithubSandbox) =>
      installation(github, { tokenCache }).read(REPO, at(github));
    expect(one.app().installationId).toBe(other.app().installationId);
    const results = await Promise.all([readOwn(one), readOwn(other)]);
    expect(results.map(({ status }) => status)).toEqual([200, 200]);
    expect([mints(one), mints(other)]).toEqual([1, 1]);
    expect(tokenCache.tokens.size).toBe(2);
  });

  test.for([-600_000, 600_000])(
    'a clock %d ms away is repaired from the Date header',
    async (skew) => {
      const github = await sandbox();
      github.app();
      github.clock.advance(skew);
      const client = installation(github);
      expect((await client.read(REPO, at(github))).status).toBe(200);
      expect(mints(github)).toBe(2);
      await client.read('GET /repos/{owner}/{repo}/issues', at(github));
      expect(mints(github)).toBe(2);
    },
  );

  test('a token is renewed five minutes before it expires', async () => {
    const github = await sandbox();
    let ahead = 0;
    const clock = { ...systemClock, wallNow: () => Date.now() + ahead };
    const client = installation(github, { clock });
    await client.read(REPO, at(github));
    ahead = 54 * 60_000;
    await client.read(REPO, at(github));
    expect(mints(github)).toBe(1);
    ahead = 55 * 60_000 + 1_000;
    github.clock.advance(ahead);
    await client.read(REPO, at(github));
    expect(mints(github)).toBe(2);
  });

  test('scoped tokens are cached apart and refused what they lack', async () => {
    const github = await sandbox();
    const tokenCache = createTokenCache();
    const all = installation(github, { tokenCache });
    const scoped = installation(github, { tokenCache, permissions: { issues: 'read' } } as object);
    await all.once(COMMENT, { ...at(github), number: 7, body: 'x' });
    await expect(
      scoped.once(COMMENT, { ...at(github), number: 7, body: 'y' }),
    ).rejects.toMatchObject({
      fault: { status: 403, cause: { permissions: 'issues=write' } },
    });
    expect(tokenCache.tokens.size).toBe(2);
  });

  test('a check run is found again by its external_id', async () => {
    const github = await sandbox();
    const client = installation(github);
    const { data } = await client.read<{ object: { sha: string } }>(
      'GET /repos/{owner}/{repo}/git/ref/{ref}',
      { ...at(github), ref: 'heads/main' },
    );
    const head_sha = data.object.sha;
    const check = { ...at(github), name: 'lint', head_sha };
    const first = await client.createCheckRun({ ...check, external_id: 'run-0' });
    expect(first).toMatchObject({ isFound: false, data: { external_id: 'run-0' } });
    github.setFaults([{ kind: 'reset-after-read', routes: ['create-check-run'], times: 1 }]);
    const second = await client.createCheckRun({ ...check, external_id: 'run-1' });
    expect(second).toMatchObject({ isFound: true, data: { external_id: 'run-1' } });
    expect(github.commits({ kind: 'check.created' }).map(({ id }) => id)).toEqual([
      first.data['id'],
      second.data['id'],
    ]);
    github.setFaults([{ kind: 'http-502', routes: ['create-check-run'], times: 1 }]);
    await expect(client.createCheckRun({ ...check, external_id: 'run-2' })).rejects.toMatchObject({
      fault: { kind: 'server', status: 502 },
    });
    expect(github.commits({ kind: 'check.created' })).toHaveLength(2);
  });
});
