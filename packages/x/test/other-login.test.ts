import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type Answer, ending, useGoverned } from './support/governed.js';
import { useWorld } from './support/rig.js';
import type { Reply } from '@toolkeel/pack-kit/testing';

const { serve, rigFor } = useWorld();
const { newFolder, start } = useGoverned();

const people = { ann: '11', bob: '22' } as const;
type Person = keyof typeof people;

let folder = '';
let tokenFile = '';
beforeEach(async () => {
  folder = await newFolder();
  tokenFile = join(folder, 'x.json');
});

/** Writes a new login, as `toolkeel login x` does; without a user if `anonymous`. */
function logIn(person: Person, how?: 'anonymous'): void {
  logins += 1;
  const login = {
    version: 1,
    login_id: `login-${logins}`,
    client_id: 'cid',
    access_token: `token-of-${person}`,
    obtained_at: 0,
    expires_at: 9e15,
    scopes: [],
    ...(how !== 'anonymous' && { user: { id: people[person], username: person } }),
  };
  writeFileSync(`${tokenFile}.new`, JSON.stringify(login), { mode: 0o600 });
  renameSync(`${tokenFile}.new`, tokenFile);
}
let logins = 0;

/** An X that answers according to the token. */
async function startX(onSeen: () => void = () => undefined) {
  const posted: string[] = [];
  const server = await serve((seen): Reply => {
    onSeen();
    const person = /token-of-(\w+)/.exec(seen.headers.authorization ?? '')?.[1] as Person;
    const id = people[person];
    if (seen.path === '/2/users/me')
      return { json: { data: { id, username: person, name: person } } };
    if (seen.method === 'POST') {
      posted.push(person);
      const text = (JSON.parse(seen.body.toString()) as { text: string }).text;
      return { status: 201, json: { data: { id: `${id}00${posted.length}`, text } } };
    }
    return {
      json: { data: [{ id: '5', text: seen.path, author_id: id }], meta: { result_count: 1 } },
    };
  });
  return { server, posted, config: { baseUrl: server.origin, tokenFile } };
}

const idOf = ({ data }: Answer): unknown => (data as { readonly id?: unknown } | null)?.id;

it('a running server acts for the latest login', async () => {
  const { server, config } = await startX();
  logIn('ann');
  const rig = await rigFor(config);
  expect(await rig.data('x_get_me')).toMatchObject({ user: { id: '11' } });
  await rig.data('x_get_home_timeline');
  logIn('bob');
  expect(await rig.data('x_get_me')).toMatchObject({ user: { id: '22' } });
  await rig.data('x_get_home_timeline');
  const timelines = server.requests.filter(({ path }) => path.includes('timelines'));
  expect(timelines.map(({ path }) => path.split('/')[3])).toEqual(['11', '22']);
  rmSync(tokenFile);
  expect(await rig.code('x_get_me')).toBe('x_not_configured');
});

it('posts of one account are not replayed to the next', async () => {
  const { posted, config } = await startX();
  logIn('ann');
  const server = await start({ folder, config });
  const key = 'the-same-key-for-both';
  const first = await server.call('x_post_tweet', { text: 'hello' });
  await server.call('x_post_tweet', { text: 'by key', idempotency_key: key });
  logIn('bob');
  const second = await server.call('x_post_tweet', { text: 'hello' });
  await server.call('x_post_tweet', { text: 'by key', idempotency_key: key });
  expect(posted).toEqual(['ann', 'ann', 'bob', 'bob']);
  expect(idOf(second)).not.toBe(idOf(first));
  logIn('ann');
  const third = await server.call('x_post_tweet', { text: 'hello' });
  expect(third).toMatchObject({ data: { id: idOf(first) } });
  expect(posted).toHaveLength(4);
});

it('rules for the configured account apply to every login', async () => {
  const { posted, config } = await startX();
  logIn('ann');
  const rule = { name: 'not-here', when: { account: 'default' }, action: 'deny' } as const;
  const server = await start({ folder, config, rules: { rules: [rule] } });
  const answer = await server.call('x_post_tweet', { text: 'hello' });
  expect(ending(answer)).toBe('policy_denied_user_rule not_executed');
  expect(posted).toEqual([]);
});

it('a call accepted for one account is not sent for another', async () => {
  let swapped = false;
  const { posted, config } = await startX(() => {
    if (!swapped) logIn('bob');
    swapped = true;
  });
  logIn('ann', 'anonymous');
  const rig = await rigFor(config);
  // Its first request is GET /2/users/me.
  expect(await rig.error('x_retweet', { tweet_id: '5' })).toMatchObject({
    code: 'x_not_configured',
    outcome: 'not_executed',
  });
  expect(posted).toEqual([]);
  logIn('ann');
  swapped = false;
  const thread = await rig.run('x_post_thread', { tweets: ['one', 'two'] });
  expect(thread).toMatchObject({ data: { posted: [{ index: 0 }] } });
  expect(posted).toEqual(['ann']);
});

it('an operation of one account is not sent for another that has logged in since', async () => {
  const { posted, config, server: upstream } = await startX();
  logIn('ann');
  const server = await start({
    folder,
    config,
    journal: {
      // Requested after the claim and before the send.
      decide: () => {
        logIn('bob');
        return { kind: 'allow', limits: [] };
      },
    },
  });
  const answer = await server.call('x_post_tweet', { text: 'hello' });
  expect(ending(answer)).toBe('x_not_configured not_executed');
  expect(posted).toEqual([]);
  expect(upstream.requests).toEqual([]);
  const [operation] = await server.store.list();
  expect(operation).toMatchObject({ account: 'x:11', state: 'released' });
});

it('a new login of the same user is the same account', async () => {
  const { posted, config, server: upstream } = await startX();
  logIn('ann', 'anonymous');
  const server = await start({ folder, config });
  const first = await server.call('x_post_tweet', { text: 'hello' });
  logIn('ann', 'anonymous');
  const second = await server.call('x_post_tweet', { text: 'hello' });
  expect(posted).toEqual(['ann']);
  expect(idOf(second)).toBe(idOf(first));
  // Once for each login.
  expect(upstream.requests.filter(({ path }) => path === '/2/users/me')).toHaveLength(2);
});
