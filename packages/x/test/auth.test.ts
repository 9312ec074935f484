import { existsSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { XSandbox } from '@toolkeel/sandbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loginX, LoginError } from '../src/index.js';
import { argumentsOf } from './support/arguments.js';
import { type Config, created, useSandbox, useWorld } from './support/rig.js';

const sandboxWorld = useSandbox();
const { world, rigFor } = useWorld();

let folder = '';
let tokenFile = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-x-'));
  tokenFile = join(folder, 'login', 'x.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const login = (sandbox: XSandbox, more: object = {}) =>
  loginX({
    clientId: sandbox.credentials.clientId,
    tokenFile,
    baseUrl: sandbox.url,
    authorizeUrl: sandbox.authorizeUrl,
    port: 0,
    // The browser of a user who authorizes the app.
    onUrl: (url) => void fetch(url).catch(() => undefined),
    ...more,
  });

const withFile = (): Config => ({ accessToken: undefined, tokenFile });
const stored = async () => JSON.parse(await readFile(tokenFile, 'utf8')) as Record<string, unknown>;
const issued = (sandbox: XSandbox) =>
  sandbox.commits({ kind: 'token.issued' }).filter(({ account }) => account !== '');

describe('login', () => {
  it('saves the tokens in a file of mode 600', async () => {
    const { sandbox, another } = await sandboxWorld();
    const result = await login(sandbox);
    expect(result).toMatchObject({
      username: sandbox.landmarks.me.username,
      userId: sandbox.landmarks.me.id,
    });
    expect(result.scopes).toContain('tweet.write');
    expect(JSON.stringify(result)).not.toContain(String((await stored())['access_token']));
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'login'))).toEqual(['x.json']);
    const rig = await another(withFile());
    expect(await rig.data('x_post_tweet', { text: 'logged in' })).toBeDefined();
  });

  it('uses PKCE and the code flow', async () => {
    const { sandbox } = await sandboxWorld();
    let shown = '';
    await login(sandbox, {
      onUrl: (url: string) => {
        shown = url;
        void fetch(url);
      },
    });
    const asked = new URL(shown).searchParams;
    expect(asked.get('response_type')).toBe('code');
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(asked.get('state')).toMatch(/^[\w-]{43}$/);
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(asked.get('scope')).toContain('offline.access');
  });

  it('shows success in the browser only after the tokens are saved', async () => {
    const { sandbox } = await sandboxWorld();
    sandbox.setLatency({ fixedMs: 20 });
    let page = Promise.resolve('');
    let keptBefore: boolean | undefined;
    const browse = async (url: string): Promise<string> => {
      const text = await (await fetch(url)).text();
      keptBefore = existsSync(tokenFile);
      return text;
    };
    await login(sandbox, { onUrl: (url: string) => void (page = browse(url)) });
    expect(await page).toBe('You are logged in. You can close this page.\n');
    expect(keptBefore).toBe(true);
  });

  it.each([
    ['http-400', 'X rejected the token request: check'],
    ['http-503', 'X returned no token: try again later (503)'],
    ['reset-after-read', 'X returned no token: try again later'],
  ] as const)('shows in the browser that the token exchange failed: %s', async (kind, why) => {
    const { sandbox } = await sandboxWorld();
    sandbox.setFaults([{ kind, routes: ['token'] }]);
    let page = Promise.resolve<readonly [number, string, string]>([0, '', '']);
    const browse = async (url: string) => {
      const response = await fetch(url);
      return [response.status, await response.text(), response.url] as const;
    };
    const ended = login(sandbox, { onUrl: (url: string) => void (page = browse(url)) });
    await expect(ended).rejects.toThrow(why);
    const [status, text, address] = await page;
    expect(status).toBe(502);
    expect(text).toContain(`The login failed: ${why}`);
    expect(text).not.toContain('logged in');
    for (const name of ['code', 'state']) {
      const value = new URL(address).searchParams.get(name);
      expect(value).toEqual(expect.any(String));
      expect(text).not.toContain(value);
    }
  });

  it('rejects a forged callback', async () => {
    const { sandbox } = await sandboxWorld();
    const answers: number[] = [];
    await login(sandbox, {
      onUrl: async (url: string) => {
        const back = new URL(url).searchParams.get('redirect_uri') ?? '';
        for (const query of ['?code=stolen', '?code=stolen&state=guess', '']) {
          answers.push((await fetch(`${back}${query}`)).status);
        }
        answers.push((await fetch(back.replace('/callback', '/other'))).status);
        await fetch(url);
      },
    });
    expect(answers).toEqual([400, 400, 400, 404]);
    expect(await stored()).toMatchObject({ version: 1 });
  });

  it('reports a denied login and a timeout', async () => {
    const { sandbox } = await sandboxWorld();
    sandbox.setFaults([{ kind: 'x-consent-denied', routes: ['authorize'], times: 1 }]);
    await expect(login(sandbox)).rejects.toThrow(LoginError);
    await expect(login(sandbox, { onUrl: () => undefined, timeoutMs: 50 })).rejects.toThrow(
      /in time/,
    );
    await expect(stat(tokenFile)).rejects.toThrow(/ENOENT/);
  });

  it('checks that the file is writable before the user is asked', async () => {
    const { sandbox } = await sandboxWorld();
    await writeFile(join(folder, 'login'), 'a file where the folder would be');
    let asked = 0;
    const onUrl = () => void (asked += 1);
    await expect(login(sandbox, { onUrl })).rejects.toThrow(/the login cannot be saved$/);
    expect(asked).toBe(0);
  });

  it('rejects a folder, a device or a link loop before the user is asked', async () => {
    const { sandbox } = await sandboxWorld();
    let asked = 0;
    const refused = { onUrl: () => void (asked += 1), timeoutMs: 50 };
    const loop = join(folder, 'loop');
    await symlink('loop', loop);
    await expect(login(sandbox, { ...refused, tokenFile: folder })).rejects.toThrow(
      `tokenFile: ${folder} is a folder; specify a file`,
    );
    await expect(login(sandbox, { ...refused, tokenFile: '/dev/null' })).rejects.toThrow(
      'tokenFile: /dev/null is not a regular file; specify a file',
    );
    await expect(login(sandbox, { ...refused, tokenFile: loop })).rejects.toThrow(
      `tokenFile: ${loop} is a symbolic link loop`,
    );
    expect(asked).toBe(0);
  });

  it('follows a link to a file that does not exist yet', async () => {
    const { sandbox, another } = await sandboxWorld();
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    await symlink('second', first);
    await symlink(join('login', 'x.json'), second);
    await login(sandbox, { tokenFile: first });
    expect(await stored()).toMatchObject({ version: 1 });
    for (const link of [first, second]) expect((await lstat(link)).isSymbolicLink()).toBe(true);
    const rig = await another({ ...withFile(), tokenFile: first });
    expect(await rig.data('x_get_me')).toBeDefined();
  });

  it('supports a confidential app', async () => {
    const { sandbox } = await sandboxWorld({ clientSecret: 'shh' });
    await expect(login(sandbox)).rejects.toThrow(/^X rejected the token request: .*\(401\)$/);
    expect(await login(sandbox, { clientSecret: 'shh' })).toMatchObject({
      userId: sandbox.landmarks.me.id,
    });
  });
});

describe('an expired login', () => {
  it('is renewed before use, and the new tokens are saved', async () => {
    const { sandbox, another } = await sandboxWorld();
    await login(sandbox);
    const before = await stored();
    await writeFile(tokenFile, JSON.stringify({ ...before, expires_at: Date.now() - 1 }));
    const rig = await another(withFile());
    expect(await rig.data('x_get_me')).toBeDefined();
    const after = await stored();
    expect(after['access_token']).not.toBe(before['access_token']);
    expect(after['refresh_token']).not.toBe(before['refresh_token']);
    expect(after['login_id']).toBe(before['login_id']);
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect(sandbox.log({ route: 'me' }).filter(({ status }) => status === 401)).toEqual([]);
  });

  it('is renewed after a 401, and the call is retried once', async () => {
    const { sandbox, another } = await sandboxWorld();
    await login(sandbox);
    const file = await stored();
    await writeFile(
      tokenFile,
      JSON.stringify({ ...file, access_token: 'revoked', obtained_at: 0 }),
    );
    const rig = await another(withFile());
    const { id } = await rig.data('x_post_tweet', { text: 'after a renewal' });
    expect(created(sandbox)).toMatchObject([{ id }]);
    expect(sandbox.log({ route: 'create-post' }).map(({ status }) => status)).toEqual([401, 201]);
    expect(issued(sandbox)).toHaveLength(2);
  });

  it('is renewed once for concurrent calls, tools and processes', async () => {
    const { sandbox, another } = await sandboxWorld();
    await login(sandbox);
    const file = await stored();
    await writeFile(
      tokenFile,
      JSON.stringify({ ...file, access_token: 'revoked', obtained_at: 0 }),
    );
    sandbox.setLatency({ fixedMs: 30 });
    const rigs = await Promise.all(Array.from({ length: 4 }, () => another(withFile())));
    const calls = rigs.flatMap((rig) => [
      rig.data('x_get_me'),
      rig.data('x_get_home_timeline'),
      rig.data('get_tweet_by_id', { tweet_id: sandbox.landmarks.popularPostId }),
    ]);
    expect(await Promise.all(calls)).toHaveLength(12);
    expect(sandbox.log({ route: 'token' })).toHaveLength(2);
    expect(await readdir(join(folder, 'login'))).toEqual(['x.json']);
  });

  it('has ended when X rejects the renewal', async () => {
    for (const refusedRefresh of ['invalid_grant', 'invalid_request'] as const) {
      const { sandbox, another } = await sandboxWorld({ refusedRefresh });
      await login(sandbox);
      const file = {
        ...(await stored()),
        refresh_token: 'used',
        access_token: 'old',
        obtained_at: 0,
      };
      await writeFile(tokenFile, JSON.stringify(file));
      const rig = await another(withFile());
      for (const tool of ['x_get_me', 'x_post_tweet']) {
        const error = await rig.error(tool, tool === 'x_post_tweet' ? { text: 'no' } : {});
        expect(error).toMatchObject({ code: 'x_auth_expired', retryable: false });
      }
      expect(created(sandbox)).toEqual([]);
      await rm(tokenFile);
    }
  });

  it('has not ended while the token endpoint is down', async () => {
    const { sandbox, another } = await sandboxWorld();
    await login(sandbox);
    const file = { ...(await stored()), access_token: 'old', obtained_at: 0 };
    await writeFile(tokenFile, JSON.stringify(file));
    const rig = await another(withFile());
    sandbox.setFaults([{ kind: 'http-503', routes: ['token'], times: 1 }]);
    const error = await rig.error('x_post_tweet', { text: 'later' });
    expect(error).toMatchObject({
      code: 'x_api_error',
      retryable: true,
      outcome: 'not_executed',
    });
    expect(await rig.data('x_post_tweet', { text: 'later' })).toBeDefined();
  });

  it('keeps an earlier unknown outcome when the renewal fails', async () => {
    const { sandbox, another } = await sandboxWorld({ tier: 'enterprise' });
    await login(sandbox);
    const file = { ...(await stored()), obtained_at: 0 };
    await writeFile(tokenFile, JSON.stringify(file));
    const rig = await another(withFile());
    const routes = ['like'];
    sandbox.setFaults([
      { kind: 'acted-http-503', routes, times: 1 },
      { kind: 'http-401', routes, times: 1 },
      { kind: 'http-503', routes: ['token'] },
    ]);
    const args = { tweet_id: sandbox.landmarks.unaskedPostId };
    const error = await rig.error('x_like_tweet', args);
    expect(error).toMatchObject({ code: 'x_api_error', outcome: 'unknown' });
    expect(sandbox.commits({ kind: 'like.created' })).toHaveLength(1);
  });

  it('is reported as not writable', async () => {
    const { sandbox, another } = await sandboxWorld();
    await login(sandbox);
    // A file name that is too long for a lock file.
    const long = join(folder, `${'x'.repeat(240)}.json`);
    const file = { ...(await stored()), expires_at: Date.now() - 1 };
    await writeFile(long, JSON.stringify(file), { mode: 0o600 });
    const before = issued(sandbox).length;
    const rig = await another({ ...withFile(), tokenFile: long });
    expect(await rig.error('x_get_me')).toMatchObject({
      code: 'x_not_configured',
      retryable: false,
      message: expect.stringMatching(/^tokenFile: .*the login cannot be saved$/) as string,
    });
    expect(issued(sandbox)).toHaveLength(before);
  });

  it('has one lock for all names of its file', async () => {
    const { sandbox, another } = await sandboxWorld();
    await login(sandbox);
    const before = await stored();
    await writeFile(tokenFile, JSON.stringify({ ...before, expires_at: Date.now() - 1 }));
    const link = join(folder, 'link.json');
    await symlink(tokenFile, link);
    const rig = await another({ ...withFile(), tokenFile: link });
    expect(await rig.data('x_get_me')).toBeDefined();
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect((await stored())['refresh_token']).not.toBe(before['refresh_token']);
  });

  it('keeps its refresh token when X rejects a new access token', async () => {
    const { sandbox, another } = await sandboxWorld();
    await login(sandbox);
    const rig = await another(withFile());
    sandbox.setFaults([{ kind: 'http-401' }]);
    expect(await rig.code('x_get_me')).toBe('x_auth_expired');
    expect(sandbox.log({ route: 'token' })).toHaveLength(1);
  });
});

describe('without a login', () => {
  it('every tool that needs X fails without a request', async () => {
    const { rig, server } = await world(() => ({ json: {} }), { accessToken: undefined });
    const needy = rig.instance.tools.filter(({ requires }) => requires.includes('x_client'));
    expect(needy.length).toBeGreaterThan(30);
    for (const { name } of needy) {
      const code = await rig.code(name, argumentsOf[name]);
      expect({ name, code }).toEqual({ name, code: 'x_not_configured' });
    }
    expect(server.requests).toEqual([]);
  });

  it('a missing, malformed or readable file is reported', async () => {
    const rig = await rigFor({ ...withFile(), baseUrl: 'http://127.0.0.1:9' });
    expect(await rig.error('x_get_me')).toMatchObject({
      code: 'x_not_configured',
      message: expect.stringContaining('toolkeel login x') as string,
    });
    expect(await rig.instance.health()).toMatchObject({ ok: false, configured: false });
    const bad = join(folder, 'bad.json');
    await writeFile(bad, '{"access_token":"sesame"}', { mode: 0o600 });
    const wrong = await rigFor({ tokenFile: bad, baseUrl: 'http://127.0.0.1:9' });
    const error = await wrong.error('x_get_me');
    expect(error.code).toBe('x_not_configured');
    expect(JSON.stringify(error)).not.toContain('sesame');
    await chmod(bad, 0o644);
    const open = await rigFor({ tokenFile: bad, baseUrl: 'http://127.0.0.1:9' });
    expect((await open.error('x_get_me')).message).toContain('600');
    const health = await open.instance.health();
    expect(health).toMatchObject({ ok: false, detail: expect.stringContaining('600') as string });
    expect(health).not.toHaveProperty('configured');
    const inside = await rigFor({ tokenFile: folder, baseUrl: 'http://127.0.0.1:9' });
    const { message } = await inside.error('x_get_me');
    expect(message).toContain('is a folder');
    expect(message).not.toContain('600');
    expect(await inside.data('validate_config')).toMatchObject({ findings: [{ message }] });
    const loop = join(folder, 'loop');
    await symlink('loop', loop);
    const endless = await rigFor({ tokenFile: loop, baseUrl: 'http://127.0.0.1:9' });
    expect(await endless.error('x_get_me')).toMatchObject({
      code: 'x_not_configured',
      message: expect.stringContaining('symbolic link loop') as string,
    });
  });

  it('the app token is used for public reads until a login exists', async () => {
    const { sandbox, another } = await sandboxWorld();
    const rig = await another({ ...withFile(), bearerToken: { env: 'APP' } });
    const args = { tweet_id: sandbox.landmarks.popularPostId };
    await rig.data('get_tweet_by_id', args);
    expect(await rig.code('x_get_me')).toBe('x_not_configured');
    // A login file that does not exist yet is not an error.
    expect(await rig.data('health_check')).toMatchObject({ ok: true, problem: null });
    expect(await rig.instance.health()).toEqual({ ok: true, detail: 'default: answers' });
    expect(await rig.data('validate_config')).toMatchObject({
      valid: true,
      findings: [{ severity: 'warning', setting: 'tokenFile' }],
    });
    await login(sandbox);
    await rig.data('get_tweet_by_id', args);
    const { limits } = await rig.data('get_rate_limits');
    expect((limits as { credential: string }[]).map(({ credential }) => credential)).toEqual([
      'app',
      'user',
    ]);
  });

  it('a token that cannot be renewed has ended after a 401', async () => {
    const { rig, server } = await world(() => ({ status: 401, json: { title: 'Unauthorized' } }));
    expect(await rig.error('x_get_me')).toMatchObject({ code: 'x_auth_expired', retryable: false });
    expect(server.requests).toHaveLength(1);
  });
});
