import { describe, expect, it } from 'vitest';
import { created, journaled, useSandbox, useWorld } from './support/rig.js';
import type { Handler, Reply, ReceivedRequest } from '@toolkeel/pack-kit/testing';

const { world } = useWorld();

const me = { data: { id: '1', username: 'me' } };
const like: Handler = ({ path }) =>
  path === '/2/users/me' ? { json: me } : { json: { data: { liked: true, bookmarked: true } } };
const connectionsOf = (seen: readonly ReceivedRequest[]) =>
  new Set(seen.map(({ connection }) => connection)).size;

describe('connections', () => {
  it('are kept alive for reads and new for writes', async () => {
    const { rig, server } = await world(like);
    for (let read = 0; read < 20; read++) await rig.data('x_get_me');
    expect(connectionsOf(server.requests)).toBeLessThan(5);
    for (const tweet of ['1', '2', '3']) await rig.data('x_bookmark_tweet', { tweet_id: tweet });
    const writes = server.requests.filter(({ method }) => method === 'POST');
    expect(connectionsOf(writes)).toBe(3);
    expect(writes.every(({ headers }) => headers.connection === 'close')).toBe(true);
    const reads = server.requests.filter(({ method }) => method === 'GET');
    expect(connectionsOf([...reads, ...writes])).toBe(connectionsOf(reads) + 3);
  });

  it('closed by X do not make a write unknown', async () => {
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
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it('that X refuses are opened again, also for a post', async () => {
    const { rig, server } = await world(like);
    await server.close();
    const { meta } = await rig.run('x_post_tweet', { text: 'a' });
    expect(meta.retry_count).toBe(2);
  });

  it('do not follow redirects', async () => {
    const { rig, server } = await world(() => ({
      status: 302,
      headers: { location: 'http://127.0.0.1:9/steal' },
    }));
    expect(await rig.code('x_get_me')).toBe('x_api_error');
    expect(server.requests).toHaveLength(1);
  });

  it('send JSON with the token of the account', async () => {
    const { rig, server } = await world(
      () => ({ status: 201, json: { data: { id: '5', text: 'a' } } }),
      {
        bearerToken: { env: 'APP' },
      },
    );
    const poll = { options: ['yes', 'no'], duration_minutes: 60 };
    const more = { poll, reply_settings: 'following', made_with_ai: true };
    await rig.data('x_post_tweet', { text: 'cafe\u0301', ...more });
    const [{ headers, body, path, method }] = server.requests as [ReceivedRequest];
    expect({ method, path }).toEqual({ method: 'POST', path: '/2/tweets' });
    expect(headers.authorization).toBe('Bearer user-access-token');
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body.toString())).toEqual({ text: 'café', ...more });
  });

  it('support a base URL with a path', async () => {
    const { rig, server } = await world(() => ({ json: me }));
    const below = await world(() => ({ json: me }), { baseUrl: `${server.origin}/proxy/` });
    await below.rig.data('x_get_me');
    expect(server.requests[0]?.path).toBe('/proxy/2/users/me');
    await rig.data('x_get_me');
  });
});

const sandboxWorld = useSandbox();

const meUser = { id: '1', username: 'me' };
const text = 'short enough';

/** An X that creates posts and returns oversized responses. */
const talkative = (about: (text: string) => object) => {
  const made: object[] = [];
  const answer = ({
    path,
    method,
    body,
  }: {
    path: string;
    method: string;
    body: Buffer;
  }): Reply => {
    if (path === '/2/users/me') return { json: { data: meUser } };
    if (method === 'GET') return { json: { data: made, meta: { result_count: made.length } } };
    const sent = (JSON.parse(body.toString()) as { text: string }).text;
    const id = String(7001 + made.length);
    made.push({ id, text: sent, created_at: new Date().toISOString() });
    const { data, ...rest } = about(sent) as { data?: object };
    return { status: 201, json: { data: { id, ...data }, ...rest } };
  };
  return { answer, made };
};

describe('a post with an oversized response', () => {
  const errors = Array.from({ length: 100 }, () => ({ type: 'x/y', detail: '語'.repeat(300) }));
  it.each([
    ['its text', () => ({ data: { text: 'a'.repeat(200_000) } })],
    ['its errors', (sent: string) => ({ data: { text: sent }, errors })],
  ])('because of %s returns its id', async (_, about) => {
    const { answer, made } = talkative(about);
    const { rig } = await world(answer);
    expect(await rig.data('x_post_tweet', { text })).toMatchObject({ id: '7001' });
    const thread = await rig.data('x_post_thread', { tweets: ['one', 'two', 'three'] });
    expect(thread).toMatchObject({
      root_id: '7002',
      tweets: [{ id: '7002' }, { id: '7003' }, { id: '7004' }],
    });
    expect(made).toHaveLength(4);
  });

  it('above the byte budget is read back', async () => {
    const { answer, made } = talkative(() => ({ data: { text: 'a'.repeat(200_000) } }));
    const { rig } = await world(answer, { maxResponseBytes: 65_536 });
    expect(await rig.data('x_post_tweet', { text }, journaled(rig))).toEqual({ id: '7001', text });
    expect(made).toHaveLength(1);
  });

  it('because of its length is read back after a lost response', async () => {
    const maxPostLength = 25_000;
    const { rig, sandbox } = await sandboxWorld({ maxPostLength }, { maxPostLength });
    sandbox.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], times: 1 }]);
    const posted = await rig.data('x_post_tweet', { text: '👩‍👩‍👦'.repeat(3_000) }, journaled(rig));
    expect(posted['id']).toBe(created(sandbox)[0]?.id);
  });
});

describe('a post that exceeds the response budget', () => {
  const long = '語'.repeat(25_000);
  const data = { id: '5', text: 'the beginning…', note_tweet: { text: long } };

  it('is read part by part', async () => {
    const { rig } = await world(() => ({ json: { data } }));
    let [read, from] = ['', 0];
    for (let part = 0; part < 3; part++) {
      const { tweet } = await rig.data('get_tweet_by_id', { tweet_id: '5', text_from: from });
      const { text: more, text_continues_at: next } = tweet as Record<string, unknown>;
      read += more as string;
      expect(next).toEqual(part < 2 ? read.length : undefined);
      from = read.length;
    }
    expect(read === long).toBe(true);
  });

  it('is cut in a list, and hides no other item', async () => {
    const others = ['6', '7'].map((id) => ({ id, text: 'short' }));
    const { rig } = await world(() => ({ json: { data: [data, ...others], meta: {} } }));
    const { tweets } = await rig.data('x_search_tweets', { query: 'q' });
    expect(tweets).toMatchObject([
      { id: '5', text_continues_at: expect.any(Number) as number },
      { id: '6', text: 'short' },
      { id: '7', text: 'short' },
    ]);
  });
});
