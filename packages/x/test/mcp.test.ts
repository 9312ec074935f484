import { startXSandbox, type XSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { x as pack } from '../src/index.js';
import { ending } from './support/connect.js';
import { loginTo, useGoverned } from './support/governed.js';
import { PATIENCE_MS } from './support/patience.js';

const { newFolder, onClose, start } = useGoverned();

const profiles = ['readonly', 'api'] as const;

async function served(profile: (typeof profiles)[number]) {
  const x = await startXSandbox({ tier: 'enterprise' });
  onClose(() => x.close());
  const server = await start({ folder: await newFolder(), profile, ...loginTo(x) });
  return { x, server };
}

/** Every tool that asks X something, and something to ask it for. */
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
    'a profile has its tools, and no others',
    async () => {
      const names = (isMeant: (effect: string) => boolean) =>
        pack
          .describe()
          .filter(({ effect }) => isMeant(effect))
          .map(({ name }) => name);
      const ofTheHost = ['get_operation', 'get_policy_status'];
      const reading = await served('readonly');
      expect((await reading.server.tools()).toSorted()).toEqual(
        [...names((effect) => effect === 'read'), ...ofTheHost].toSorted(),
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
    'lost retries, which TuitBot’s write profiles had, are back: every read of %s is tried again',
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
    'what is about this installation is answered without asking X for more than its health',
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
