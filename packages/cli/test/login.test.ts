import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startXSandbox, type XSandbox } from '@toolkeel/sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { login, type LoginFlags } from '../src/commands/login.js';
import { describeFailure } from '../src/errors.js';
import { run } from '../src/run.js';
import { fakeRuntime, useTempDir } from '../src/runtime.fixture.js';
import { overStdio } from './support/client.js';
import { endAll, finished, toolkeel, type Running } from './support/process.js';

const dir = useTempDir();
let x: XSandbox;

beforeAll(async () => {
  x = await startXSandbox();
});
afterEach(async () => {
  x.setFaults([]);
  await endAll();
});
afterAll(() => x.close());

const configure = (more: object = {}, host: object = {}): void => {
  const { url: baseUrl, authorizeUrl, credentials } = x;
  const settings = { baseUrl, authorizeUrl, clientId: credentials.clientId, ...more };
  writeFileSync(
    join(dir(), 'toolkeel.config.json'),
    JSON.stringify({ ...host, packs: { x: settings } }),
  );
};
const place = (env: Record<string, string> = {}) => ({ cwd: dir(), env });
const file = () => join(dir(), 'data', 'x-login.json');
const kept = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;

/** Starts a login in a child process, and returns the URL to open. */
const startLogin = async () => {
  const run = toolkeel(['login', 'x', '--port', '0'], place());
  const [, url = ''] = await run.waitForOutput(/^ {2}(http\S+)$/m);
  return { run, url };
};

/** The same in this process, which is faster. */
const startLoginHere = async (flags: LoginFlags = {}, env: Record<string, string> = {}) => {
  const runtime = fakeRuntime({
    cwd: dir(),
    env: { TOOLKEEL_DATA_DIR: join(dir(), 'data'), ...env },
  });
  const neverStopped = (): Promise<void> => new Promise(() => undefined);
  const ended = login('x', { port: 0, ...flags }, runtime, neverStopped).catch((thrown: unknown) =>
    describeFailure(thrown, false),
  );
  const url = await vi.waitUntil(() => /^ {2}(http\S+)$/m.exec(runtime.output())?.[1], {
    // The first one loads what it needs.
    timeout: 30_000,
  });
  return { ended, url, err: runtime.errorOutput, out: runtime.output };
};

/** All output, which must contain no secret. */
const allOutput = (run: Running): string => run.out() + run.err();

describe('toolkeel login x', () => {
  it.each([
    [{ profile: 'workflow' }, /toolkeel serve x --profile workflow$/m],
    [{ profile: 'api' }, /toolkeel serve x --profile api$/m],
    [
      {},
      /toolkeel serve x --profile readonly\n.*With --profile workflow, mutations run after your approval/,
    ],
  ])('names the configured profile in its hint: %j', async (host, hint) => {
    configure({}, host);
    const { ended, url, out } = await startLoginHere();
    await fetch(url);
    expect(await ended).toBe(0);
    expect(out()).toMatch(hint);
  });

  it('names the profile of the file if that of the environment needs a flag, and TOOLKEEL_CONFIG', async () => {
    configure({}, { profile: 'workflow' });
    const TOOLKEEL_CONFIG = join(dir(), 'toolkeel.config.json');
    const { ended, url, out } = await startLoginHere(
      {},
      { TOOLKEEL_PROFILE: 'api', TOOLKEEL_CONFIG },
    );
    await fetch(url);
    expect(await ended).toBe(0);
    expect(out()).toMatch(
      /^Next, with the same TOOLKEEL_CONFIG, TOOLKEEL_DATA_DIR: toolkeel serve x --profile workflow$/m,
    );
  });

  it('prints the account but no token, stores the login with mode 600, and serve uses it', async () => {
    configure();
    const { run, url } = await startLogin();
    expect((await fetch(url)).status).toBe(200);
    expect(await run.ended).toEqual({ code: 0, signal: null });
    expect(run.out()).toContain(`Logged in as @${x.landmarks.me.username}. `);
    expect(run.out()).toContain(file());
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    for (const name of ['access_token', 'refresh_token']) {
      expect(kept()[name]).toEqual(expect.any(String));
      expect(allOutput(run)).not.toContain(kept()[name]);
    }
    const client = await overStdio(['x'], place());
    expect(await client.call('x_get_me')).toMatchObject({
      data: { user: { id: x.landmarks.me.id } },
    });
    await client.close();
    const { code, out } = await finished(['doctor'], place());
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining(`@${x.landmarks.me.username}, in ${file()}`) as string,
    });
    expect(out).toMatch(/^ok {4}x +default: answers$/m);
    expect(out).not.toContain(kept()['access_token']);
  });

  it('does not require a restart of a running server', async () => {
    configure();
    const client = await overStdio(['x'], place());
    expect(await client.call('x_get_me')).toMatchObject({ error: { code: 'x_not_configured' } });
    const { ended, url } = await startLoginHere();
    await fetch(url);
    await ended;
    expect(await client.call('x_get_me')).toMatchObject({ success: true });
    await client.close();
  });

  it('uses the given scopes, client id and token file', async () => {
    configure({ clientId: 'another', tokenFile: join(dir(), 'mine.json') });
    const app = { clientId: x.credentials.clientId };
    const { ended, url } = await startLoginHere({ ...app, scopes: 'tweet.read,users.read' });
    expect(new URL(url).searchParams.get('scope')).toBe('tweet.read users.read');
    await fetch(url);
    expect(await ended).toBe(0);
    const mine = JSON.parse(readFileSync(join(dir(), 'mine.json'), 'utf8')) as object;
    expect(mine).toMatchObject({ scopes: ['tweet.read', 'users.read'] });
    expect(existsSync(file())).toBe(false);
  });

  it('warns that a configured token takes precedence', async () => {
    configure();
    const given = { TOOLKEEL_X_ACCESS_TOKEN: 'configured-token-value' };
    const { ended, url, err, out } = await startLoginHere({}, given);
    await fetch(url);
    expect(await ended).toBe(0);
    expect(err()).toMatch(/not used: accessToken is set/);
    expect(out() + err()).not.toContain('configured-token-value');
    expect(existsSync(file())).toBe(true);
  });

  it('ignores a redirect of another login', async () => {
    configure();
    const { ended, url, err } = await startLoginHere();
    const back = new URL(url).searchParams.get('redirect_uri') ?? '';
    expect((await fetch(`${back}?code=stolen&state=guess`)).status).toBe(400);
    await fetch(url);
    expect(await ended).toBe(0);
    expect(err()).toMatch(/Ignored a redirect of another login/);
  });

  it('reports a denied authorization', async () => {
    configure();
    x.setFaults([{ kind: 'x-consent-denied', routes: ['authorize'] }]);
    const { ended, url } = await startLoginHere();
    await fetch(url);
    const message = 'X denied the login: access_denied';
    expect(await ended).toEqual({ exitCode: 1, message });
    expect(existsSync(file())).toBe(false);
  });

  it('reports a refused token request with a likely cause', async () => {
    configure();
    x.setFaults([{ kind: 'http-400', routes: ['token'] }]);
    const { ended, url } = await startLoginHere();
    await fetch(url);
    const message = expect.stringMatching(
      /^X rejected the token request: .*client id, the client secret/,
    );
    expect(await ended).toEqual({ exitCode: 1, message });
    expect(existsSync(file())).toBe(false);
  });

  it('refuses another API without an authorization page, and names the variable', async () => {
    configure({ authorizeUrl: undefined });
    const ask = async (env: Record<string, string>) => {
      const runtime = fakeRuntime({ cwd: dir(), env });
      return { code: await run(['login', 'x', '--timeout', '0.1'], runtime), ...runtime };
    };
    const inFile = await ask({});
    expect({ code: inFile.code, out: inFile.output() }).toEqual({ code: 2, out: '' });
    expect(inFile.errorOutput()).toContain('TOOLKEEL_X_AUTHORIZE_URL');
    writeFileSync(join(dir(), 'toolkeel.config.json'), '{}');
    const env = { TOOLKEEL_X_BASE_URL: x.url, TOOLKEEL_X_CLIENT_ID: 'app' };
    const inEnvironment = await ask(env);
    expect(inEnvironment.code).toBe(2);
    expect(inEnvironment.errorOutput()).toContain('TOOLKEEL_X_AUTHORIZE_URL');
    // A gateway in front of the API with the page of X itself is valid.
    const meant = await ask({
      ...env,
      TOOLKEEL_X_AUTHORIZE_URL: 'https://x.com/i/oauth2/authorize',
      TOOLKEEL_DATA_DIR: join(dir(), 'data'),
    });
    expect(meant.errorOutput()).toContain('the login was not authorized in time');
  });

  it('reports a directory in place of the file before it prompts', async () => {
    configure();
    mkdirSync(file(), { recursive: true });
    const runtime = fakeRuntime({
      cwd: dir(),
      env: { TOOLKEEL_DATA_DIR: join(dir(), 'data') },
    });
    expect(await run(['login', 'x', '--timeout', '1'], runtime)).toBe(2);
    expect(runtime.output()).toBe('');
    expect(runtime.errorOutput()).toContain(`tokenFile: ${file()} is a folder; specify a file`);
  });

  it('reports a timeout', async () => {
    configure();
    const { ended } = await startLoginHere({ timeout: '0.1' });
    const message = 'the login was not authorized in time';
    expect(await ended).toEqual({ exitCode: 1, message });
  });

  it('reports a port in use', async () => {
    configure();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const { code, err } = await finished(['login', 'x', '--port', String(port)], place());
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`the port ${port} on 127.0.0.1 cannot be used: it is in use`));
    await new Promise((resolve) => other.close(resolve));
  });

  it('stops at SIGINT', async () => {
    configure();
    const { run } = await startLogin();
    run.kill('SIGINT');
    expect(await run.ended).toEqual({ code: 1, signal: null });
    expect(run.err()).toBe('Login cancelled.\n');
  });
});

const doctor = async (env: Record<string, string> = {}) => {
  // A pack reads its credentials itself, from the process.
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const runtime = fakeRuntime({
    cwd: dir(),
    env: { TOOLKEEL_DATA_DIR: join(dir(), 'data'), ...env },
  });
  const code = await run(['doctor'], runtime);
  vi.unstubAllEnvs();
  return { code, out: runtime.output() };
};

describe('toolkeel doctor for X', () => {
  it('only warns if X is not configured, and explains how to log in', async () => {
    configure();
    const { code, out } = await doctor();
    expect(code).toBe(0);
    expect(out).toMatch(/^warn {2}x +default: X is not configured: run `toolkeel login x`/m);
  });

  it('fails for a login that others can read, or that is malformed', async () => {
    configure();
    const { ended, url } = await startLoginHere();
    await fetch(url);
    await ended;
    chmodSync(file(), 0o644);
    const open = await doctor();
    expect(open.code).toBe(1);
    expect(open.out).toMatch(
      /^FAIL {2}x: login .*is readable by other users; set its mode to 600/m,
    );
    chmodSync(file(), 0o600);
    writeFileSync(file(), '{"access_token":"sesame-open"}');
    const none = await doctor();
    expect(none.code).toBe(1);
    expect(none.out).toMatch(/^FAIL {2}x: login .*is not a valid login/m);
    expect(none.out).not.toContain('sesame');
  });

  it('names the command that replaces a revoked login', async () => {
    configure();
    const { ended, url } = await startLoginHere();
    await fetch(url);
    await ended;
    const dead = { ...kept(), access_token: 'revoked', refresh_token: 'used-up', obtained_at: 0 };
    writeFileSync(file(), JSON.stringify(dead));
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toMatch(
      /^FAIL {2}x +default: X no longer accepts the login.*\n +Log in again: toolkeel login x$/m,
    );
    expect(out).not.toContain('Check its address');
  });

  it('reports that X is unreachable or refuses the credential, without showing it', async () => {
    const env = { TOOLKEEL_X_ACCESS_TOKEN: 'configured-token-value' };
    configure();
    const refused = await doctor(env);
    expect(refused.code).toBe(1);
    expect(refused.out).toMatch(
      /credential .*accessToken is in the variable TOOLKEEL_X_ACCESS_TOKEN/,
    );
    expect(refused.out).toMatch(/^FAIL {2}x +default: X no longer accepts the login/m);
    configure({ baseUrl: 'http://127.0.0.1:9' });
    const gone = await doctor(env);
    expect(gone.out).toMatch(/^FAIL {2}x +default: X could not be reached/m);
    expect(refused.out + gone.out).not.toContain('configured-token-value');
  });
});
