import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { echoes } from '@toolkeel/pack-kit/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { argumentsOf } from './support/arguments.js';
import { secrets, useWorld } from './support/rig.js';
import type { Reply } from '@toolkeel/pack-kit/testing';

const { world } = useWorld();

const old = {
  access: 'OLDaccess_tok-1234567890abcdef',
  refresh: 'OLDrefresh_tok-1234567890abcdef',
};
const next = {
  access: 'NEWaccess_tok-0987654321fedcba',
  refresh: 'NEWrefresh_tok-0987654321fedcba',
};
const all = [old.access, old.refresh, next.access, next.refresh, secrets.SECRET];

let folder = '';
let tokenFile = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-x-'));
  tokenFile = join(folder, 'x.json');
  const login = {
    version: 1,
    login_id: 'L',
    client_id: 'cid',
    access_token: old.access,
    refresh_token: old.refresh,
    obtained_at: 0,
    expires_at: 1,
    scopes: [],
  };
  await writeFile(tokenFile, JSON.stringify(login), { mode: 0o600 });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const escapeEach =
  (how: (code: number) => string) =>
  (text: string): string =>
    [...text].map((one) => how(one.codePointAt(0)!)).join('');
const inJson = escapeEach((code) => `\\u${code.toString(16).padStart(4, '0')}`);

/** The forms of a secret in a JSON response, with escapes. */
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  ...Object.fromEntries(
    echoes.map(({ name, write }) => [
      name,
      (secret: string) => JSON.stringify(write(secret)).slice(1, -1),
    ]),
  ),
  'escapes of the JSON itself': inJson,
  'an escaped line break of the JSON': (secret) => `${secret.slice(0, 9)}\\n${secret.slice(9)}`,
};

const readings: readonly ((said: string) => string)[] = [
  (said) => said,
  (said) => said.replaceAll(/\\+u([\da-f]{4})/gi, (_, hex: string) => charOf(hex, 16)),
  (said) => said.replaceAll(/&#(\d+);/g, (_, digits: string) => charOf(digits, 10)),
  (said) => said.replaceAll(/&#x([\da-f]+);/gi, (_, hex: string) => charOf(hex, 16)),
  (said) => said.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => charOf(hex, 16)),
  (said) => said.replaceAll(/\\n|[\p{C}\s]/gu, ''),
  (said) => [...said.matchAll(/[\w+/-]{12,}/g)].map(([one]) => atob64(one)).join(' '),
];
const charOf = (digits: string, base: number): string =>
  String.fromCodePoint(Number.parseInt(digits, base));
const atob64 = (text: string): string => Buffer.from(text, 'base64').toString('latin1');

const leaks = (said: string, spell = (secret: string) => secret): readonly string[] => {
  const readable = readings.map((read) => read(said));
  return all.filter((secret) =>
    readable.some((text) => text.includes(secret) || text.includes(spell(secret))),
  );
};

const granted: Reply = {
  json: { access_token: next.access, refresh_token: next.refresh, expires_in: 7200 },
};

describe.each(Object.entries(spellings))('a secret of a login, %s', (_, spell) => {
  it('appears in no envelope, page token or log line', async () => {
    const echo = all.map((secret) => `<${spell(secret)}>`).join(' ');
    const post = (text: string): string => `{"id":"5","author_id":"1","text":"${text}"}`;
    const replies: readonly Reply[] = [
      { status: 400, text: `{"title":"${echo}","detail":"${echo}"}` },
      { status: 403, text: `{"errors":[{"message":"${echo}","${echo}":1}]}` },
      { text: `{"data":${post(echo)}}` },
    ];
    const list = `{"data":[${post('a')}],"meta":{"result_count":1,"next_token":"${echo}"}}`;
    const reading = ['get_tweet_by_id', 'x_search_tweets'];
    const cases = [
      ...replies.map((said) => [said, [...reading, 'x_post_tweet']] as const),
      [{ text: list }, reading] as const,
    ];
    let reply: Reply = {};
    const { rig, server } = await world(({ path }) => (path.endsWith('/token') ? granted : reply), {
      accessToken: undefined,
      tokenFile,
      clientId: 'cid',
      clientSecret: { env: 'SECRET' },
    });
    for (const [answer, tools] of cases) {
      reply = answer;
      for (const tool of tools) {
        const said = JSON.stringify(await rig.run(tool, argumentsOf[tool]));
        const cursor = /"next_token":"([^".]+)/.exec(said)?.[1] ?? '';
        const opened = Buffer.from(cursor, 'base64url').toString();
        expect(leaks(said, spell)).toEqual([]);
        expect(
          leaks(opened.replaceAll(/[\da-f]{8,}/g, (hex) => Buffer.from(hex, 'hex').toString())),
        ).toEqual([]);
      }
    }
    expect(leaks(rig.logged.join(), spell)).toEqual([]);
    expect(server.requests.length).toBeGreaterThan(replies.length * 3 + reading.length);
    expect(await readFile(tokenFile, 'utf8')).toContain(next.refresh);
  });
});

it('reports every token to the host when it is read or renewed', async () => {
  const { rig } = await world(
    ({ path }) => (path.endsWith('/token') ? granted : { json: { data: { id: '1' } } }),
    { accessToken: undefined, tokenFile, clientId: 'cid', clientSecret: { env: 'SECRET' } },
  );
  await rig.run('x_get_me');
  expect(rig.secrets).toEqual(expect.arrayContaining(all));
});

it('keeps a refresh token that X returns again', async () => {
  const again = { json: { access_token: next.access, refresh_token: old.refresh } };
  const { rig } = await world(
    ({ path }) => (path.endsWith('/token') ? again : { json: { data: { id: '1' } } }),
    { accessToken: undefined, tokenFile, clientId: 'cid' },
  );
  await rig.run('x_get_me');
  expect(JSON.parse(await readFile(tokenFile, 'utf8'))).toMatchObject({
    access_token: next.access,
    refresh_token: old.refresh,
  });
});
