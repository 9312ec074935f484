import { describe, expect, it } from 'vitest';
import type { Answering, Seen } from './support/server.js';
import { useWorld } from './support/world.js';

const { world } = useWorld();

const me = { data: { id: '1', username: 'me' } };
const like: Answering = ({ path }) =>
  path === '/2/users/me' ? { json: me } : { json: { data: { liked: true, bookmarked: true } } };
const connectionsOf = (seen: readonly Seen[]) =>
  new Set(seen.map(({ connection }) => connection)).size;

describe('connections', () => {
  it('of reads are kept, those of writes are new: an idle one may be dead already', async () => {
    const { rig, server } = await world(like);
    for (let read = 0; read < 20; read++) await rig.data('x_get_me');
    expect(connectionsOf(server.seen)).toBeLessThan(5);
    for (const tweet of ['1', '2', '3']) await rig.data('x_bookmark_tweet', { tweet_id: tweet });
    const writes = server.seen.filter(({ method }) => method === 'POST');
    expect(connectionsOf(writes)).toBe(3);
    expect(writes.every(({ headers }) => headers.connection === 'close')).toBe(true);
    const reads = server.seen.filter(({ method }) => method === 'GET');
    expect(connectionsOf([...reads, ...writes])).toBe(connectionsOf(reads) + 3);
  });

  it('that X has closed in the meantime cost no write its certainty', async () => {
    let closing = false;
    const { rig, server } = await world((seen) => {
      const reply = like(seen, 0);
      return closing ? { ...reply, headers: { connection: 'close' } } : reply;
    });
    await rig.data('x_get_me');
    closing = true;
    for (const tweet of ['1', '2']) {
      expect(await rig.data('x_bookmark_tweet', { tweet_id: tweet })).toBeDefined();
    }
    expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it('do not follow a redirect, which would take our token elsewhere', async () => {
    const { rig, server } = await world(() => ({
      status: 302,
      headers: { location: 'http://127.0.0.1:9/steal' },
    }));
    expect(await rig.code('x_get_me')).toBe('x_api_error');
    expect(server.seen).toHaveLength(1);
  });

  it('speak JSON with the token of the account, and nothing else', async () => {
    const { rig, server } = await world(
      () => ({ status: 201, json: { data: { id: '5', text: 'a' } } }),
      {
        bearerToken: { env: 'APP' },
      },
    );
    const poll = { options: ['yes', 'no'], duration_minutes: 60 };
    const more = { poll, reply_settings: 'following', made_with_ai: true };
    await rig.data('x_post_tweet', { text: 'cafe\u0301', ...more });
    const [{ headers, body, path, method }] = server.seen as [Seen];
    expect({ method, path }).toEqual({ method: 'POST', path: '/2/tweets' });
    expect(headers.authorization).toBe('Bearer user-access-token');
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body.toString())).toEqual({ text: 'café', ...more });
  });

  it('may lead to an API that lies below a path', async () => {
    const { rig, server } = await world(() => ({ json: me }));
    const below = await world(() => ({ json: me }), { baseUrl: `${server.origin}/proxy/` });
    await below.rig.data('x_get_me');
    expect(server.seen[0]?.path).toBe('/proxy/2/users/me');
    await rig.data('x_get_me');
  });
});
