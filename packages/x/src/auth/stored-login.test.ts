import { readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultError } from '@toolkeel/kernel';
import { createRedactor } from '@toolkeel/pack-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeLogin } from './login-file.js';
import { storedLogin } from './stored-login.js';

const NOW = Date.UTC(2026, 5, 1);
const signal = new AbortController().signal;

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-login-'));
  path = join(folder, 'x.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A login that expires in `inMs`, and the requests to the token endpoint. */
async function loginThatEnds(inMs: number, onRead: () => void = () => undefined, obtainedAt = 0) {
  await writeLogin(path, {
    version: 1,
    login_id: 'L',
    client_id: 'cid',
    access_token: 'old-access-token',
    refresh_token: 'refresh-token',
    obtained_at: obtainedAt,
    expires_at: NOW + inMs,
    scopes: [],
  });
  const opened: string[] = [];
  const open = (url: URL): Promise<never> => {
    opened.push(url.pathname);
    return Promise.reject(new FaultError({ kind: 'connect', sent: 'no' }));
  };
  const connections = { open, read: open, close: () => Promise.resolve(), isAllowed: () => true };
  const all = createRedactor();
  const secrets = {
    ...all,
    addRotating: (secret: string) => {
      onRead();
      all.addRotating(secret);
    },
  };
  const wallNow = (): number => NOW;
  const url = new URL('https://x.test/2/oauth2/token');
  const endpoint = { url, clientSecret: undefined, connections, secrets, wallNow };
  return { login: storedLogin({ path, endpoint, wallNow, log: () => undefined }), opened };
}

describe('a stored login', () => {
  it('is renewed shortly before it expires', async () => {
    const { login, opened } = await loginThatEnds(30_000);
    await expect(login.token(signal)).rejects.toBeInstanceOf(FaultError);
    expect(opened).toEqual(['/2/oauth2/token']);
  });

  it('is renewed before it expires with a short lifetime', async () => {
    const { login, opened } = await loginThatEnds(30_000, undefined, NOW - 5_000);
    await expect(login.token(signal)).rejects.toMatchObject({ fault: { kind: 'connect' } });
    expect(opened).toEqual(['/2/oauth2/token']);
  });

  it('is used unchanged while it is valid', async () => {
    const { login, opened } = await loginThatEnds(30_001);
    expect(await login.token(signal)).toBe('old-access-token');
    expect(opened).toEqual([]);
  });

  it('is not renewed by a process that lost the lock', async () => {
    const taken: string[] = [];
    const { login, opened } = await loginThatEnds(0, () => {
      for (const name of readdirSync(folder).filter((one) => one.includes('.lock.'))) {
        taken.push(name);
        rmSync(join(folder, name));
      }
    });
    await expect(login.token(signal)).rejects.toMatchObject({
      fault: { kind: 'timeout', sent: 'no', clock: 'login lock' },
    });
    expect(taken).toHaveLength(1);
    expect(opened).toEqual([]);
  });
});
