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
import { storedLogin } from './stored-login.js';
import { writeLogin, type Login } from './login-file.js';
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

/** The disk goes away while X answers, and comes back as it was. */
const unplug = (): void => renameSync(folder, join(root, 'away'));
const plugIn = (): void => {
  renameSync(join(root, 'away'), folder);
  takeLocks();
};
const takeLocks = (): void => {
  for (const name of readdirSync(folder).filter((one) => one.includes('.lock.')))
    rmSync(join(folder, name));
};

/** A login that was renewed once, and of which the file does not know. */
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

describe('a renewed login that could not be written', () => {
  it('is used and renewed all the same, for the refresh token in the file is used up', async () => {
    const { login, x } = await unsaved();
    expect(await login.token(signal)).toBe('access-2');
    await advance(TWO_HOURS_MS);
    expect(await login.token(signal)).toBe('access-3');
    expect(x.sent).toEqual(['refresh-1', 'refresh-2']);
    expect(inFile()).toBe('refresh-3');
    expect(await login.token(signal)).toBe('access-3');
    expect(logged).toEqual(['error login_not_saved', 'info login_saved']);
  });

  it('is used at once, though another process renews what is in the file', async () => {
    const { login } = await unsaved();
    const other = `x.json.lock.${'a'.repeat(12)}.1.${wallNow()}.${'b'.repeat(12)}`;
    writeFileSync(join(folder, other), '');
    expect(await login.token(signal)).toBe('access-2');
  });

  it('outlives several renewals, none of which can be written', async () => {
    const { login, x, unplugged } = await unsaved();
    await advance(TWO_HOURS_MS);
    await unplugged(() => login.renew('access-2', signal));
    expect(inFile()).toBe('refresh-1');
    await advance(TWO_HOURS_MS);
    expect(await login.token(signal)).toBe('access-4');
    expect(x.sent).toEqual(['refresh-1', 'refresh-2', 'refresh-3']);
    expect(inFile()).toBe('refresh-4');
  });

  it('is written at a later use', async () => {
    const { login } = await unsaved();
    await advance(5_000);
    expect(await login.token(signal)).toBe('access-2');
    await vi.waitUntil(() => inFile() === 'refresh-2', { timeout: 30_000 });
    await vi.waitUntil(() => logged.includes('info login_saved'), { timeout: 30_000 });
    expect(await login.token(signal)).toBe('access-2');
  });

  it('is written at the end', async () => {
    const { login } = await unsaved();
    await login.close();
    expect(inFile()).toBe('refresh-2');
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it('is told of once more where it is lost at the end', async () => {
    const { login } = await unsaved();
    unplug();
    await login.close();
    expect(logged).toEqual(['error login_not_saved', 'error login_not_saved']);
  });

  it('is not forgotten because somebody touched the file', async () => {
    const { login, x } = await unsaved();
    utimesSync(path, 1, 1);
    expect(await login.token(signal)).toBe('access-2');
    await writeLogin(path, loginOf(1));
    expect(await login.token(signal)).toBe('access-2');
    expect(x.sent).toEqual(['refresh-1']);
  });

  it('is what a call gets whose older token was refused', async () => {
    const { login, x } = await unsaved();
    await login.renew('access-1', signal);
    expect(await login.token(signal)).toBe('access-2');
    expect(x.sent).toEqual(['refresh-1']);
  });

  it('gives way to whoever has logged in since', async () => {
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

describe('writing it again', () => {
  /** One that is not written, without a login around it. */
  const held = async (onRead: () => void = () => undefined) => {
    await writeLogin(path, loginOf(1));
    const it = unsavedLogin({ path, secrets: { addRotating: onRead }, log, wallNow });
    await it.write(join(root, 'nowhere', 'x.json'), loginOf(2), loginOf(1));
    return it;
  };

  it('is not tried at every call', async () => {
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

  it('is done once, however many ask for it', async () => {
    const it = await held();
    await advance(5_000);
    await Promise.all([it.retrySave(), it.retrySave(), it.close()]);
    await it.retrySave();
    expect(logged).toEqual(['error login_not_saved', 'info login_saved']);
  });

  it('is left to the next time by whoever lost the lock', async () => {
    const it = await held(takeLocks);
    await advance(5_000);
    await it.retrySave();
    expect(inFile()).toBe('refresh-1');
    expect(it.currentFor(loginOf(1))).toMatchObject({ access_token: 'access-2' });
  });

  it('does not write over what another process has written', async () => {
    const it = await held();
    await writeLogin(path, loginOf(1, { refresh_token: 'of-another' }));
    await advance(5_000);
    await it.retrySave();
    expect(inFile()).toBe('of-another');
    expect(it.currentFor(loginOf(1))).toEqual(loginOf(1));
  });
});
