import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createJournal, openEncryption, type Resolution } from '@toolkeel/journal';
import type { FaultRule, XSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { x as pack } from '../../src/index.js';
import { PATIENCE_MS } from '../support/closing.js';
import { ending, type Governed, settledCall } from '../support/governed.js';
import { type Config, created } from '../support/rig.js';
import { brief, useStage } from '../support/stage.js';

const stage = useStage();
const key = { idempotency_key: 'the-same-key-for-both' };
const namings = [
  ['with the same key', key],
  ['without a key', {}],
] as const;

/** A login of the same user that the access token belongs to. */
async function loginOf(x: XSandbox, folder: string, namesUser: boolean): Promise<Config> {
  const { accessToken, refreshToken } = x.issueTokens({});
  const tokenFile = join(folder, 'x-login.json');
  const { me } = x.landmarks;
  const login = {
    version: 1,
    login_id: 'L',
    client_id: 'cid',
    access_token: accessToken,
    refresh_token: refreshToken,
    obtained_at: 0,
    expires_at: 9e15,
    scopes: [],
    ...(namesUser && { user: { id: me.id, username: me.username } }),
  };
  await writeFile(tokenFile, JSON.stringify(login), { mode: 0o600 });
  return { accessToken: undefined, tokenFile };
}

const posts = (x: XSandbox) => x.commits({ kind: 'post.created' });

describe.concurrent('a login and an access token of one user are one account', () => {
  it.each(
    namings.flatMap(([naming, more]) => [
      [naming, 'the login names its user', more, true] as const,
      [naming, 'X has to be asked for its user', more, false] as const,
    ]),
  )(
    '%s, where %s: it is one post',
    async (_, __, more, namesUser) => {
      const { x, server, folder, another } = await stage({}, brief);
      const other = await another(await loginOf(x, folder, namesUser));
      const args = { text: 'good morning', ...more };
      const first = await server.call('x_post_tweet', args);
      const second = await other.call('x_post_tweet', args);
      expect(posts(x)).toHaveLength(1);
      expect(second).toMatchObject({ data: first.data, meta: { idempotency: { replayed: true } } });
      const accounts = (await server.store.list()).map(({ account }) => account);
      expect(accounts).toEqual([`x:${x.landmarks.me.id}`]);
    },
    PATIENCE_MS,
  );

  it.each(namings)(
    '%s, also where the end of the first is not known',
    async (_, more) => {
      const { x, server, folder, another } = await stage({}, brief);
      const other = await another(await loginOf(x, folder, true));
      const args = { text: 'good morning', ...more };
      x.setLag(60_000);
      x.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], times: 1 }]);
      const first = await server.call('x_post_tweet', args);
      expect(ending(first)).toBe('outcome_unknown unknown');
      x.setLag(0);
      const second = await settledCall(other, 'x_post_tweet', args);
      const [made, ...rest] = posts(x);
      expect(rest).toEqual([]);
      expect(second).toMatchObject({
        success: true,
        data: { id: made && 'id' in made && made.id },
      });
    },
    PATIENCE_MS,
  );
});

describe.concurrent('two configured names of one token are one account', () => {
  it.each(namings)(
    '%s: it is one post',
    async (_, more) => {
      const { x, server, another } = await stage({ account: 'main' });
      const other = await another({ account: 'marketing' });
      const args = { text: 'good morning', ...more };
      const first = await server.call('x_post_tweet', args);
      const second = await other.call('x_post_tweet', args);
      expect(posts(x)).toHaveLength(1);
      expect(second.data).toEqual(first.data);
    },
    PATIENCE_MS,
  );

  it(
    'a like after the unlike of the other name is executed',
    async () => {
      const { x, server, another } = await stage({ account: 'main' });
      const other = await another({ account: 'marketing' });
      const args = { tweet_id: x.landmarks.unaskedPostId };
      for (const [one, tool] of [
        [server, 'x_like_tweet'],
        [other, 'x_unlike_tweet'],
        [server, 'x_like_tweet'],
      ] as const) {
        expect(await one.call(tool, args)).toMatchObject({ success: true });
      }
      expect(x.commits().map(({ kind }) => kind)).toEqual([
        'like.created',
        'like.deleted',
        'like.created',
      ]);
    },
    PATIENCE_MS,
  );
});

describe.concurrent('a token with an unresolvable user', () => {
  it.each<readonly [FaultRule['kind'], string]>([
    ['http-503', 'x_api_error not_executed'],
    ['reset-after-read', 'x_network_error not_executed'],
    ['garbage', 'x_api_error not_executed'],
    ['x-429-window', 'x_rate_limited not_executed'],
    ['x-403-suspended', 'x_account_restricted not_executed'],
  ])(
    'after %s fails with %s; nothing is posted or recorded',
    async (kind, said) => {
      const { x, server, another } = await stage({ maxRetries: 0 });
      x.setFaults([{ kind, routes: ['me'] }]);
      const args = { text: 'good morning' };
      for (const more of [{}, key]) {
        expect(ending(await server.call('x_post_tweet', { ...args, ...more }))).toBe(said);
      }
      expect(await server.store.list()).toEqual([]);
      expect(posts(x)).toEqual([]);
      x.setFaults([]);
      expect(await (await another()).call('x_post_tweet', args)).toMatchObject({ success: true });
    },
    PATIENCE_MS,
  );

  it(
    'because of an expired login is rejected',
    async () => {
      const { x, server } = await stage({}, brief);
      x.clock.advance(7_200_000);
      const answer = await server.call('x_post_tweet', { text: 'good morning' });
      expect(ending(answer)).toBe('x_auth_expired not_executed');
      expect(await server.store.list()).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'is resolved by a retry',
    async () => {
      const { x, server } = await stage({}, brief);
      x.setFaults([{ kind: 'http-503', routes: ['me'], times: 2 }]);
      const answer = await server.call('x_post_tweet', { text: 'good morning' });
      expect(answer).toMatchObject({ success: true });
      expect(x.log({ route: 'me' })).toHaveLength(3);
    },
    PATIENCE_MS,
  );
});

it(
  'many calls at once ask for the account once',
  async () => {
    const { x, server } = await stage({}, { sandbox: { latency: { fixedMs: 50 } } });
    const calls = Array.from({ length: 8 }, (_, index) =>
      server.call('x_post_tweet', { text: `number ${index}` }),
    );
    for (const answer of await Promise.all(calls)) expect(answer.success).toBe(true);
    await server.call('x_bookmark_tweet', { tweet_id: x.landmarks.unaskedPostId });
    expect(x.log({ route: 'me' })).toHaveLength(1);
  },
  PATIENCE_MS,
);

const unknown = { success: false, error: { code: 'outcome_unknown', outcome: 'unknown' } };

const onPost = (kind: FaultRule['kind']): FaultRule => ({
  kind,
  routes: ['create-post'],
  times: 1,
});

/** The operator API, with or without the tools of the pack. */
async function settle(
  { store }: Governed,
  folder: string,
  id: string | undefined,
  data?: unknown,
  knows = pack.describe(),
): Promise<void> {
  const encryption = await openEncryption(store, folder);
  const tools = { specs: () => knows, load: () => undefined };
  const operatorJournal = createJournal({ store, encryption, tools });
  const said: Resolution = { outcome: 'executed', by: 'ana', ...(data !== undefined && { data }) };
  try {
    await operatorJournal.operations.resolve(id ?? '', said);
  } finally {
    await operatorJournal.close();
  }
}

describe.concurrent('a post that an operator has found', () => {
  it.each([
    ['without its id', undefined],
    ['with a malformed id', { tweet: 'the one on the page' }],
  ])(
    'and settled %s is not attributed to an equal operation',
    async (_, data) => {
      const { x, server, folder } = await stage({}, brief);
      const lost = { text: 'daily update', idempotency_key: 'b'.repeat(20) };
      x.setFaults([onPost('close-before-read')]);
      expect(await server.call('x_post_tweet', lost)).toMatchObject(unknown);
      x.setFaults([onPost('acted-http-503')]);
      const seen = { ...lost, idempotency_key: 'a'.repeat(20), allow_duplicate: true };
      const { error } = await server.call('x_post_tweet', seen);
      await settle(server, folder, error?.operation_id, data, []);
      expect(await settledCall(server, 'x_post_tweet', lost)).toMatchObject(unknown);
      expect(x.commits({ kind: 'post.created' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});

describe.concurrent('equal parts of two threads', () => {
  it(
    'one of which is unknown: the other is identified by its parent',
    async () => {
      const { x, server } = await stage({}, brief);
      await server.call('x_get_me');
      x.setFaults([{ ...onPost('close-before-read'), skip: 1 }]);
      const first = { tweets: ['how terns fish', 'more to come'] };
      expect(await server.call('x_post_thread', first)).toMatchObject(unknown);
      x.setFaults([{ ...onPost('acted-http-503'), skip: 1 }]);
      const second = { tweets: ['how gulls nest', 'more to come'] };
      const answer = await server.call('x_post_thread', second);
      const [, ...made] = created(x);
      expect(made).toHaveLength(2);
      expect(answer).toMatchObject({ data: { tweets: made.map(({ id }) => ({ id })) } });
    },
    PATIENCE_MS,
  );
});
