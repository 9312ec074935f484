import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startXSandbox, type XSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { x as pack } from '../src/index.js';
import { PATIENCE_MS } from './support/closing.js';
import { ending, loginTo, useGoverned } from './support/governed.js';
import { useSandbox } from './support/rig.js';

const { newFolder, onClose, start } = useGoverned();

const profiles = ['readonly', 'api'] as const;

async function served(profile: (typeof profiles)[number]) {
  const x = await startXSandbox({ tier: 'enterprise' });
  onClose(() => x.close());
  const server = await start({ folder: await newFolder(), profile, ...loginTo(x) });
  return { x, server };
}

/** Arguments for every tool that sends a request. */
function readsOf(x: XSandbox): Readonly<Record<string, object>> {
  const { me, friendId, popularPostId: tweet_id, listId: list_id } = x.landmarks;
  const user_id = me.id;
  return {
    get_tweet_by_id: { tweet_id },
    x_search_tweets: { query: 'the' },
    x_get_me: {},
    x_get_user_by_username: { username: me.username },
    x_get_user_by_id: { user_id },
    x_get_users_by_ids: { user_ids: [user_id, friendId] },
    x_get_user_tweets: { user_id },
    x_get_user_mentions: { user_id },
    x_get_home_timeline: {},
    x_get_followers: { user_id },
    x_get_following: { user_id },
    x_get_liked_tweets: { user_id },
    x_get_tweet_liking_users: { tweet_id },
    x_get_bookmarks: {},
    x_get_list: { list_id },
    x_get_list_tweets: { list_id },
    x_get_list_members: { list_id },
    x_get_owned_lists: { user_id },
    x_get_list_memberships: { user_id },
  };
}

describe('through MCP', () => {
  it(
    'a profile has exactly its tools',
    async () => {
      const names = (isMeant: (effect: string) => boolean) =>
        pack
          .describe()
          .filter(({ effect }) => isMeant(effect))
          .map(({ name }) => name);
      const ofTheHost = ['get_operation', 'get_policy_status'];
      const reading = await served('readonly');
      expect((await reading.server.tools()).toSorted()).toEqual(
        names((effect) => effect === 'read').toSorted(),
      );
      await expect(reading.server.call('x_post_tweet', { text: 'no' })).rejects.toThrow();
      expect(reading.x.commits()).toEqual([]);
      const acting = await served('api');
      expect((await acting.server.tools()).toSorted()).toEqual(
        [...names(() => true), ...ofTheHost].toSorted(),
      );
    },
    PATIENCE_MS,
  );

  it.each(profiles)(
    'every read of %s is retried',
    async (profile) => {
      const { x, server } = await served(profile);
      const reads = readsOf(x);
      const needy = pack
        .describe()
        .filter(({ effect, requires }) => effect === 'read' && requires.includes('x_client'));
      expect(Object.keys(reads).toSorted()).toEqual(needy.map(({ name }) => name).toSorted());
      for (const [name, args] of Object.entries(reads)) {
        x.setFaults([{ kind: 'http-503', times: 1 }]);
        const answer = await server.call(name, args);
        expect([name, ending(answer), answer.meta.retry_count]).toEqual([name, 'ok', 1]);
        const { pagination } = answer.meta;
        if (pagination) expect(pagination.has_more).toBe(pagination.next_token !== undefined);
      }
    },
    PATIENCE_MS,
  );

  it(
    'tools about the installation send only health requests',
    async () => {
      const { x, server } = await served('readonly');
      for (const tool of ['get_capabilities', 'get_rate_limits', 'get_config', 'validate_config']) {
        expect([tool, ending(await server.call(tool))]).toEqual([tool, 'ok']);
      }
      expect(x.log()).toEqual([]);
      expect(ending(await server.call('health_check'))).toBe('ok');
      expect(x.log()).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});

const sandboxWorld = useSandbox();
const run = promisify(execFile);
const program = fileURLToPath(new URL('../dist/auth/renew.fixture.js', import.meta.url));

describe('processes that share a login', () => {
  it('renew it once', async () => {
    const { sandbox } = await sandboxWorld({ latency: { fixedMs: 20 } });
    const folder = await mkdtemp(join(tmpdir(), 'toolkeel-shared-'));
    try {
      const tokenFile = join(folder, 'x.json');
      const { accessToken, refreshToken } = sandbox.issueTokens();
      const login = {
        version: 1,
        login_id: 'shared',
        client_id: sandbox.credentials.clientId,
        access_token: accessToken,
        refresh_token: refreshToken,
        obtained_at: 0,
        expires_at: 0,
        scopes: [],
      };
      await writeFile(tokenFile, JSON.stringify(login), { mode: 0o600 });
      const processes = Array.from({ length: 4 }, () =>
        run(process.execPath, [program, sandbox.url, tokenFile]),
      );
      const ended = await Promise.all(processes);
      expect(ended.map(({ stdout }) => stdout.trim())).toEqual(Array(4).fill('ok ok ok'));
      expect(sandbox.log({ route: 'token' })).toHaveLength(1);
      expect(await readdir(folder)).toEqual(['x.json']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
