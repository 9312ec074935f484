import { renameSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { argumentsOf } from './support/arguments.js';
import { type Config, useWorld } from './support/rig.js';
import type { Reply } from '@toolkeel/pack-kit/testing';

const { world } = useWorld();

let folder = '';
let tokenFile = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-x-'));
  tokenFile = join(folder, 'x.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const keepLogin = (refreshToken: string | undefined, expiresAt = 1): Promise<void> =>
  writeFile(
    tokenFile,
    JSON.stringify({
      version: 1,
      login_id: 'L',
      client_id: 'cid',
      access_token: `access-of-${refreshToken}`,
      refresh_token: refreshToken,
      obtained_at: 0,
      expires_at: expiresAt,
      scopes: [],
    }),
    { mode: 0o600 },
  );

/** An X with a failing token endpoint. */
const refusing = async (reply: Reply, more: Config = {}) => {
  const sent: (string | null)[] = [];
  const { rig } = await world(
    ({ path, body }) => {
      if (!path.endsWith('/token')) return { status: 401, json: { title: 'Unauthorized' } };
      sent.push(new URLSearchParams(body.toString()).get('refresh_token'));
      return reply;
    },
    { accessToken: undefined, tokenFile, maxRetries: 2, ...more },
  );
  return { rig, sent };
};

const unclear: Readonly<Record<string, Reply>> = {
  'a 503': { status: 503, json: {} },
  'a broken connection': { act: 'reset' },
  'half an answer': { act: 'half', json: { access_token: 'abcdefgh', refresh_token: 'ijklmnop' } },
  'an answer without a token': { json: {} },
};

describe.each([1, 9e15])('a login that expires at %s', (expiresAt) => {
  it.each(Object.entries(unclear))(
    'sends its refresh token once per call after %s',
    async (_, reply) => {
      await keepLogin('single-use', expiresAt);
      const { rig, sent } = await refusing(reply);
      for (const tool of ['x_get_me', 'x_post_tweet', 'x_delete_tweet']) {
        sent.length = 0;
        const error = await rig.error(tool, argumentsOf[tool]);
        expect(error).toMatchObject({ retryable: true });
        expect(sent).toEqual(['single-use']);
      }
    },
  );

  it.each(['invalid_grant', 'invalid_request'])(
    'never resends a refresh token that was rejected with %s',
    async (error) => {
      await keepLogin('used-up', expiresAt);
      const { rig, sent } = await refusing({ status: 400, json: { error } });
      for (const tool of ['x_get_me', 'x_get_me', 'x_post_tweet', 'x_get_home_timeline']) {
        expect(await rig.error(tool, argumentsOf[tool])).toMatchObject({
          code: 'x_auth_expired',
          retryable: false,
        });
      }
      expect(sent).toEqual(['used-up']);
      await keepLogin('another', expiresAt);
      await rig.error('x_get_me');
      await rig.error('x_get_me');
      expect(sent).toEqual(['used-up', 'another']);
    },
  );
});

it('sends its refresh token once per call after a timeout', async () => {
  await keepLogin('single-use');
  const { rig, sent } = await refusing({ act: 'stall' }, { attemptTimeoutSecs: 1 });
  const [read, written] = await Promise.all([
    rig.error('x_get_me'),
    rig.error('x_post_tweet', argumentsOf['x_post_tweet']),
  ]);
  expect([read.code, written.code]).toEqual(['x_network_error', 'x_network_error']);
  expect(sent).toEqual(['single-use']);
});

it('saves tokens that X returns late', async () => {
  await keepLogin('single-use');
  const { rig, server } = await world(
    ({ path }) =>
      path.endsWith('/token')
        ? { json: { access_token: 'late-access', refresh_token: 'late-refresh' }, afterMs: 700 }
        : { json: { data: { id: '1', username: 'a', name: 'A' } } },
    { accessToken: undefined, tokenFile, attemptTimeoutSecs: 0.5 },
  );
  expect(await rig.data('x_get_me')).toBeDefined();
  expect(server.requests.filter(({ path }) => path.endsWith('/token'))).toHaveLength(1);
  expect(await readFile(tokenFile, 'utf8')).toContain('late-refresh');
});

it('retries after a rejection that is not about the refresh token', async () => {
  await keepLogin('good');
  const { rig, sent } = await refusing({ status: 403, text: 'blocked on the way' });
  await rig.error('x_get_me');
  await rig.error('x_get_me');
  expect(sent).toEqual(['good', 'good']);
});

describe('validate_config', () => {
  const over = {
    valid: false,
    findings: [
      {
        severity: 'error',
        setting: 'tokenFile',
        message: 'the login has expired and cannot be renewed: run `toolkeel login x`',
      },
    ],
  };
  const fine = { valid: true, findings: [] };

  it('reports an expired login without a refresh token', async () => {
    await keepLogin(undefined);
    const { rig } = await refusing({ status: 400 });
    expect(await rig.data('validate_config')).toEqual(over);
    expect(await rig.data('get_capabilities')).toMatchObject({ logged_in: false });
    expect(await rig.code('x_get_me')).toBe('x_auth_expired');
    await keepLogin(undefined, 9e15);
    expect(await rig.data('validate_config')).toEqual(fine);
    expect(await rig.data('get_capabilities')).toMatchObject({ logged_in: true });
  });

  it('reports a login that X has refused to renew', async () => {
    await keepLogin('used-up');
    const { rig } = await refusing({ status: 400, json: { error: 'invalid_grant' } });
    expect(await rig.data('validate_config')).toEqual(fine);
    expect(await rig.code('x_get_me')).toBe('x_auth_expired');
    expect(await rig.data('validate_config')).toEqual(over);
    await keepLogin('another');
    expect(await rig.data('validate_config')).toEqual(fine);
  });
});

it('saves on close a login that could not be saved before', async () => {
  await keepLogin('first');
  const away = `${folder}-away`;
  const { rig } = await world(
    ({ path }) => {
      if (!path.endsWith('/token'))
        return { json: { data: { id: '1', username: 'a', name: 'A' } } };
      renameSync(folder, away);
      return { json: { access_token: 'second-access', refresh_token: 'second' } };
    },
    { accessToken: undefined, tokenFile },
  );
  await rig.data('x_get_me');
  expect(rig.logged.join()).toContain('login_not_saved');
  await rename(away, folder);
  for (const name of await readdir(folder))
    if (name.includes('.lock.')) await rm(join(folder, name));
  await rig.close();
  expect(JSON.parse(await readFile(tokenFile, 'utf8'))).toMatchObject({ refresh_token: 'second' });
  expect(rig.logged.join()).not.toContain('second');
});
