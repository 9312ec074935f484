import { VirtualClock } from '@toolkeel/kernel/testing';
import { startGithubSandbox, type GithubSandbox } from '@toolkeel/sandbox';
import { describe, expect, test } from 'vitest';
import { createTokenCache, GitHubClient, InstallationClient } from '../src/index.js';
import { faultToError } from '../src/faults.js';
import { closeAfterEach, onClose, world } from './support/rig.js';

closeAfterEach();

const COMMENT = 'POST /repos/{owner}/{repo}/issues/{number}/comments';

async function sandbox(): Promise<GithubSandbox> {
  const github = await startGithubSandbox();
  onClose(() => github.close());
  return github;
}

/** Sends comments at once, and lets a second pass after each request until all have ended. */
async function comments(github: GithubSandbox, count: number) {
  const clock = new VirtualClock({ epoch: Date.now() });
  const client = new GitHubClient({ baseUrl: github.url, token: github.token, clock });
  onClose(() => client.close());
  const { owner, repo, issue: number } = github.landmarks;
  const ended: unknown[] = [];
  const all = Array.from({ length: count }, (_, index) =>
    client
      .once(COMMENT, { owner, repo, number, body: `c${index}` })
      .catch((cause: unknown) => cause)
      .finally(() => ended.push(index)),
  );
  // The refused ones end first, without time passing.
  for (let sent = 1; ended.length < count; sent += 1) {
    while (github.log({ route: 'create-comment' }).length < sent && ended.length < count)
      await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1_000);
  }
  return { client, results: await Promise.all(all) };
}

describe('own pacing', () => {
  test('mutations that wait longer than an attempt may take are sent, and the circuit stays closed', async () => {
    const github = await sandbox();
    const { client, results } = await comments(github, 50);
    expect(results).toMatchObject(results.map(() => ({ status: 201 })));
    expect(github.commits({ kind: 'comment.created' })).toHaveLength(50);
    expect(client.upstreams.map((upstream) => upstream.circuit)).toEqual(['closed']);
  });

  test('a mutation whose turn is after the deadline is refused as our pacing, not as a limit of GitHub', async () => {
    const github = await sandbox();
    const { results } = await comments(github, 58);
    const refused = results.slice(55);
    expect(refused.map((result) => (result as { fault: object }).fault)).toMatchObject(
      refused.map(() => ({ kind: 'rate_limited', sent: 'no', retryAfterMs: 55_000 })),
    );
    expect(github.commits({ kind: 'comment.created' })).toHaveLength(55);
    const { fault } = refused[0] as { fault: Parameters<typeof faultToError>[0] };
    expect(faultToError(fault)?.input).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('packs.github.pacing.mutationIntervalMs'),
      details: { scope: 'pacing' },
    });
  });

  test('60 binary files are committed at the default pace', async () => {
    const { rig, repo, github } = await world({}, { pacing: {} });
    const files = Array.from({ length: 60 }, (_, index) => ({
      path: `logos/${index}.bin`,
      content: Buffer.from([0, 255, index]).toString('base64'),
      base64: true,
    }));
    const args = { repo, branch: 'main', message: 'Add logos', files };
    expect(await rig.data('commit_files', args)).toMatchObject({ files: 60 });
    expect(github.counts().byRoute['create-blob']).toBe(60);
    expect(github.commits()).toMatchObject([{ kind: 'ref.updated' }]);
  });

  test('a commit that our pacing cannot finish is refused before anything is sent', async () => {
    const { rig, repo, github } = await world();
    const file = (index: number) => ({
      path: `${index}.bin`,
      content: Buffer.from([0, index]).toString('base64'),
      base64: true,
    });
    const files = Array.from({ length: 181 }, (_, index) => file(index));
    const args = { repo, branch: 'main', message: 'Add logos', files };
    expect(await rig.error('commit_files', args)).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('packs.github.pacing.pointsPerMinute'),
    });
    expect(github.counts().byRoute['create-blob']).toBeUndefined();
    const equal = Array.from({ length: 200 }, (_, index) => ({ ...file(0), path: `${index}.bin` }));
    expect(await rig.data('commit_files', { ...args, files: equal })).toMatchObject({ files: 200 });
    expect(github.counts().byRoute['create-blob']).toBe(1);
  });
});

test('no App token is minted inside a closed window', async () => {
  const github = await sandbox();
  const { owner, repo } = github.landmarks;
  const tokenCache = createTokenCache();
  const client = new InstallationClient({ baseUrl: github.url, ...github.app(), tokenCache });
  onClose(() => client.close());
  const read = () =>
    client.read('GET /repos/{owner}/{repo}', { owner, repo }, { timeoutMs: 3_000 });
  await read();
  const limit = { kind: 'github-403-secondary', retryAfter: { seconds: 50 }, times: 1 } as const;
  github.setFaults([{ ...limit, routes: ['repo'] }]);
  await expect(read()).rejects.toMatchObject({ fault: { kind: 'rate_limited' } });
  const { requests } = github.counts();
  tokenCache.tokens.clear();
  const limited = { fault: { kind: 'rate_limited', sent: 'no' } };
  await expect(read()).rejects.toMatchObject(limited);
  const permissions = client.credential.permissions?.(new AbortController().signal);
  await expect(permissions).rejects.toMatchObject(limited);
  expect(github.counts().requests).toBe(requests);
});
