import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGithubSandbox, type GithubSandbox } from '@toolkeel/sandbox';
import { describe, expect, test } from 'vitest';
import { checkPermissions } from '../src/instance.js';
import { closeAfterEach, onClose, world } from './support/rig.js';

closeAfterEach();

async function sandbox(): Promise<GithubSandbox> {
  const github = await startGithubSandbox();
  onClose(() => github.close());
  return github;
}

describe('the permissions that doctor reports', () => {
  test('a classic token lists its scopes', async () => {
    const github = await sandbox();
    const settings = { baseUrl: github.url, token: { env: 'TOKEN' } };
    const report = (scopes: string) =>
      checkPermissions(settings, { TOKEN: github.issueToken({ scopes }) });
    // The scope `repo` includes notifications.
    for (const scopes of ['notifications, repo', 'repo'])
      expect(await report(scopes)).toEqual({ source: 'scopes', refused: [] });
    const narrow = await report('read:user');
    expect(narrow?.refused).toContainEqual({ tool: 'github_comment', needs: 'scope repo' });
    expect(narrow?.refused).toContainEqual({
      tool: 'github_list_notifications',
      needs: 'scope notifications or repo',
    });
    expect(narrow?.refused.map(({ tool }) => tool)).not.toContain('github_read_file');
  });

  test('an installation lists its permissions; its key is read from a private file', async () => {
    const github = await sandbox();
    const { appId: id, installationId, privateKey } = github.app();
    const folder = mkdtempSync(join(tmpdir(), 'toolkeel-github-key-'));
    onClose(async () => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'key.pem');
    writeFileSync(file, privateKey, { mode: 0o600 });
    const app = { id, installationId, privateKey: { file }, permissions: { issues: 'read' } };
    const report = await checkPermissions({ baseUrl: github.url, app }, {});
    expect(report?.source).toBe('installation');
    const refused = report?.refused.map(({ tool }) => tool);
    expect(refused).toContain('github_create_issue');
    expect(refused).not.toContain('github_get_issue');
    chmodSync(file, 0o644);
    // Another scope, because the first token is cached.
    const other = { ...app, permissions: { issues: 'write' } };
    const reading = checkPermissions({ baseUrl: github.url, app: other }, {});
    await expect(reading).rejects.toThrow('600');
  });

  test('a fine-grained token does not list them, and no credential has no report', async () => {
    const github = await sandbox();
    const token = github.issueToken({ permissions: { issues: 'read' } });
    const settings = { baseUrl: github.url, token: { env: 'TOKEN' } };
    expect(await checkPermissions(settings, { TOKEN: token })).toEqual({
      source: 'unknown',
      refused: [],
    });
    expect(await checkPermissions({ baseUrl: github.url }, {})).toBeUndefined();
  });

  test('the token of a workflow, which has no user, is accepted', async () => {
    const { rig, github } = await world();
    github.setFaults([{ kind: 'github-403-bare', routes: ['user'] }]);
    expect(await rig.instance.health()).toMatchObject({ ok: true });
    const settings = { baseUrl: github.url, token: { env: 'TOKEN' } };
    expect(await checkPermissions(settings, { TOKEN: github.token })).toEqual({
      source: 'unknown',
      refused: [],
    });
  });

  test('a refused call names the missing permission', async () => {
    const { another, repo, github } = await world();
    const rig = await another({}, github.issueToken({ permissions: { issues: 'read' } }));
    expect(await rig.error('comment', { repo, number: 7, body: 'x' })).toMatchObject({
      code: 'forbidden',
      outcome: 'not_executed',
      message: expect.stringContaining('issues=write'),
    });
  });

  test('health says what is wrong with the credential, without showing it', async () => {
    const { rig, github, another } = await world();
    expect(await rig.instance.health()).toMatchObject({ ok: true });
    const revoked = github.issueToken();
    github.revokeToken(revoked);
    const health = await (await another({}, revoked)).instance.health();
    expect(health).toMatchObject({
      ok: false,
      detail: expect.stringContaining('rejects the credential (401)'),
      advice: expect.stringContaining('packs.github.token'),
    });
    await github.setReachable(false);
    expect(await (await another()).instance.health()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('does not answer'),
      advice: expect.stringContaining('packs.github.baseUrl'),
    });
    expect(JSON.stringify(health)).not.toContain(revoked);
    const none = await another({ token: undefined });
    expect(await none.instance.health()).toMatchObject({ ok: false, configured: false });
  });
});
