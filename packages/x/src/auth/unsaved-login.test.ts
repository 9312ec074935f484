import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeLogin, type Login } from './login-file.js';
import { storedLogin } from './stored-login.js';
import { rotatingEndpoint } from './token-endpoint.fixture.js';
import { unsavedLogin } from './unsaved-login.js';

const TWO_HOURS_MS = 7_200_000;
const { signal } = new AbortController();

let clock = new VirtualClock();
let root = '';
let folder = '';
let path = '';
let logged: string[] = [];
beforeEach(async () => {
  clock = new VirtualClock({ epoch: Date.UTC(2026, 5, 1) });
  root = await mkdtemp(join(tmpdir(), 'toolkeel-unsaved-'));
  folder = join(root, 'disk');
  mkdirSync(folder);
  path = join(folder, 'x.json');
  logged = [];
});
let onEnd = (): Promise<void> => Promise.resolve();
afterEach(async () => {
  await onEnd();
  await rm(root, { recursive: true, force: true });
});

const wallNow = () => clock.wallNow();
const log = (level: string, event: string) => void logged.push(`${level} ${event}`);
const advance = (ms: number) => clock.advance(ms);

const loginOf = (n: number, more: Partial<Login> = {}): Login => ({
  version: 1,
  login_id: 'L',
  client_id: 'cid',
  access_token: `access-${n}`,
  refresh_token: `refresh-${n}`,
  obtained_at: 0,
  expires_at: wallNow() - 1,
  scopes: [],
  ...more,
});
const inFile = () => (JSON.parse(readFileSync(path, 'utf8')) as Login).refresh_token;

/** Makes the folder unavailable during the response, and restores it. */
const unplug = (): void => renameSync(folder, join(root, 'away'));
const plugIn = (): void => {
  renameSync(join(root, 'away'), folder);
  takeLocks();
};
const takeLocks = (): void => {
  for (const name of readdirSync(folder).filter((one) => one.includes('.lock.')))
    rmSync(join(folder, name));
};

/** A login that was renewed once and not saved. */
async function unsaved() {
  const x = rotatingEndpoint(wallNow);
  await writeLogin(path, loginOf(1));
  const login = storedLogin({ path, endpoint: x.endpoint, log, wallNow });
  onEnd = () => login.close();
  const unplugged = async <T>(renew: () => Promise<T>): Promise<T> => {
    x.meanwhile(unplug);
    const result = await renew();
    x.meanwhile(() => undefined);
    plugIn();
    return result;
  };
  expect(await unplugged(() => login.token(signal))).toBe('access-2');
  expect(inFile()).toBe('refresh-1');
  expect(logged).toEqual(['error login_not_saved']);
  return { login, x, unplugged };
}

describe('a renewed login that could not be saved', () => {
  it('is used and renewed from memory', async () => {
    const { login, x } = await unsaved();
    expect(await login.token(signal)).toBe('access-2');
    await advance(TWO_HOURS_MS);
    expect(await login.token(signal)).toBe('access-3');
    expect(x.sent).toEqual(['refresh-1', 'refresh-2']);
    expect(inFile()).toBe('refresh-3');
    expect(await login.token(signal)).toBe('access-3');
    expect(logged).toEqual(['error login_not_saved', 'info login_saved']);
  });

  it('is used at once while another process holds the lock', async () => {
    const { login } = await unsaved();
    const other = `x.json.lock.${'a'.repeat(12)}.1.${wallNow()}.${'b'.repeat(12)}`;
    writeFileSync(join(folder, other), '');
    expect(await login.token(signal)).toBe('access-2');
  });

  it('survives several unsaved renewals', async () => {
    const { login, x, unplugged } = await unsaved();
    await advance(TWO_HOURS_MS);
    await unplugged(() => login.renew('access-2', signal));
    expect(inFile()).toBe('refresh-1');
    await advance(TWO_HOURS_MS);
    expect(await login.token(signal)).toBe('access-4');
    expect(x.sent).toEqual(['refresh-1', 'refresh-2', 'refresh-3']);
    expect(inFile()).toBe('refresh-4');
  });

  it('is saved at a later call', async () => {
    const { login } = await unsaved();
    await advance(5_000);
    expect(await login.token(signal)).toBe('access-2');
    await vi.waitUntil(() => inFile() === 'refresh-2', { timeout: 30_000 });
    await vi.waitUntil(() => logged.includes('info login_saved'), { timeout: 30_000 });
    expect(await login.token(signal)).toBe('access-2');
  });

  it('is saved on close', async () => {
    const { login } = await unsaved();
    await login.close();
    expect(inFile()).toBe('refresh-2');
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it('is logged again if it is lost on close', async () => {
    const { login } = await unsaved();
    unplug();
    await login.close();
    expect(logged).toEqual(['error login_not_saved', 'error login_not_saved']);
  });

  it('is kept when the file is only touched', async () => {
    const { login, x } = await unsaved();
    utimesSync(path, 1, 1);
    expect(await login.token(signal)).toBe('access-2');
    await writeLogin(path, loginOf(1));
    expect(await login.token(signal)).toBe('access-2');
    expect(x.sent).toEqual(['refresh-1']);
  });

  it('replaces a rejected token', async () => {
    const { login, x } = await unsaved();
    await login.renew('access-1', signal);
    expect(await login.token(signal)).toBe('access-2');
    expect(x.sent).toEqual(['refresh-1']);
  });

  it('is replaced by a new login', async () => {
    const { login, x } = await unsaved();
    const expires = wallNow() + 2 * TWO_HOURS_MS;
    await writeLogin(path, loginOf(70, { login_id: 'M', expires_at: expires }));
    expect(await login.token(signal)).toBe('access-70');
    expect(login.login()).toBe('M');
    await login.close();
    expect(inFile()).toBe('refresh-70');
    await login.renew('access-70', signal);
    expect(x.sent).toEqual(['refresh-1', 'refresh-70']);
    expect(logged).toEqual(['error login_not_saved']);
  });
});

describe('saving it again', () => {
  /** An unsaved login without a stored login. */
  const held = async (onRead: () => void = () => undefined) => {
    await writeLogin(path, loginOf(1));
    const it = unsavedLogin({ path, secrets: { addRotating: onRead }, log, wallNow });
    await it.write(join(root, 'nowhere', 'x.json'), loginOf(2), loginOf(1));
    return it;
  };

  it('is not attempted at every call', async () => {
    const it = await held();
    await advance(4_999);
    await it.retrySave();
    expect(inFile()).toBe('refresh-1');
    await advance(1);
    unplug();
    await it.retrySave();
    plugIn();
    await advance(4_999);
    await it.retrySave();
    expect(inFile()).toBe('refresh-1');
    await advance(1);
    await it.retrySave();
    expect(inFile()).toBe('refresh-2');
    expect(logged).toEqual(['error login_not_saved', 'info login_saved']);
  });

  it('is done once for concurrent callers', async () => {
    const it = await held();
    await advance(5_000);
    await Promise.all([it.retrySave(), it.retrySave(), it.close()]);
    await it.retrySave();
    expect(logged).toEqual(['error login_not_saved', 'info login_saved']);
  });

  it('is postponed if the lock was lost', async () => {
    const it = await held(takeLocks);
    await advance(5_000);
    await it.retrySave();
    expect(inFile()).toBe('refresh-1');
    expect(it.currentFor(loginOf(1))).toMatchObject({ access_token: 'access-2' });
  });

  it('does not overwrite a login that another process has saved', async () => {
    const it = await held();
    await writeLogin(path, loginOf(1, { refresh_token: 'of-another' }));
    await advance(5_000);
    await it.retrySave();
    expect(inFile()).toBe('of-another');
    expect(it.currentFor(loginOf(1))).toEqual(loginOf(1));
  });
});
