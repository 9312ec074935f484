import { presets } from '@toolkeel/kernel';
import { startGithubSandbox, type GithubSandbox } from '@toolkeel/sandbox';
import { describe, expect, test } from 'vitest';
import { createTokenCache, InstallationClient } from '../src/index.js';
import { checkPermissions } from '../src/instance.js';
import { closeAfterEach, createRig, onClose, world } from './support/rig.js';

closeAfterEach();

const COMMENT = 'POST /repos/{owner}/{repo}/issues/{number}/comments';

async function sandbox(): Promise<GithubSandbox> {
  const github = await startGithubSandbox();
  onClose(() => github.close());
  return github;
}

/** The pack for the installed App, with what the test changes of it. */
async function appRig(github: GithubSandbox, app: object = {}, key?: string) {
  const { appId: id, installationId, privateKey } = github.app();
  const settings = { id, installationId, privateKey: { env: 'KEY' }, ...app };
  const pacing = { mutationIntervalMs: 0 };
  return createRig(
    { baseUrl: github.url, app: settings, pacing, maxRetries: 0 },
    { KEY: key ?? privateKey },
  );
}

const repoOf = ({ landmarks: { owner, repo } }: GithubSandbox): string => `${owner}/${repo}`;

describe('a token that cannot be minted', () => {
  test('is a credential problem, never a missing file or branch', async () => {
    const github = await sandbox();
    const repo = repoOf(github);
    const rig = await appRig(github, { installationId: 42 });
    const files = [{ path: 'a', content: 'x' }];
    for (const [tool, args] of [
      ['read_file', { path: 'README.md' }],
      ['commit_files', { branch: 'main', message: 'm', files }],
    ] as const)
      expect(await rig.error(tool, { repo, ...args })).toMatchObject({
        code: 'unauthorized',
        message: expect.stringContaining('Not Found'),
      });
    const narrow = await appRig(github, { permissions: { nonsense: 'write' } });
    expect(await narrow.error('read_file', { repo, path: 'README.md' })).toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('not granted'),
    });
  });

  test('names the setting if the private key is unreadable, and does not show the key', async () => {
    const github = await sandbox();
    for (const key of [
      'nonsense',
      '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----',
    ]) {
      const rig = await appRig(github, {}, key);
      const error = await rig.error('read_file', { repo: repoOf(github), path: 'README.md' });
      expect(error).toMatchObject({
        code: 'unauthorized',
        message: expect.stringContaining('packs.github.app.privateKey'),
      });
      expect(error.message).not.toContain('abc');
      expect((await rig.instance.health()).detail).toContain('packs.github.app.privateKey');
    }
  });

  test('leaves the write that needed it unsent', async () => {
    const github = await sandbox();
    const { appId, installationId, privateKey } = github.app();
    const client = new InstallationClient({
      baseUrl: github.url,
      appId,
      installationId,
      privateKey,
      policy: { ...presets.github, maxRetries: 0 },
      tokenCache: createTokenCache(),
    });
    onClose(() => client.close());
    const { owner, repo } = github.landmarks;
    const comment = () => client.once(COMMENT, { owner, repo, number: 7, body: 'x' });
    github.setFaults([
      { kind: 'reset-after-read', routes: ['create-installation-token'], times: 4 },
    ]);
    await expect(comment()).rejects.toMatchObject({ fault: { kind: 'network', sent: 'no' } });
    github.setFaults([{ kind: 'http-404', routes: ['create-installation-token'] }]);
    await expect(comment()).rejects.toMatchObject({ fault: { kind: 'auth', sent: 'no' } });
    expect(github.commits()).toEqual([]);
  });
});

describe('a rate limit while the account is resolved', () => {
  test('does not change the identity of the account', async () => {
    const { rig, github, another } = await world();
    github.setFaults([{ kind: 'github-403-secondary', routes: ['user'], times: 1 }]);
    expect(await rig.error('get_context')).toMatchObject({ code: 'rate_limited' });
    // Another credential of the same account, because the limit holds back the first.
    const other = await another({}, github.issueToken());
    expect(await other.data('get_context')).toMatchObject({ acts_as: github.landmarks.login });
  });

  test('is neither health nor a report without refusals', async () => {
    const { rig, github } = await world();
    github.setFaults([{ kind: 'github-403-secondary', routes: ['user'], times: 2 }]);
    expect(await rig.instance.health()).toMatchObject({ ok: false });
    const settings = { baseUrl: github.url, token: { env: 'TOKEN' } };
    const report = checkPermissions(settings, { TOKEN: github.issueToken() });
    await expect(report).rejects.toMatchObject({ fault: { kind: 'rate_limited' } });
  });
});
