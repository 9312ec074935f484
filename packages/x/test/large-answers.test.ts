import { describe, expect, it } from 'vitest';
import { journaled } from './support/rig.js';
import { created, useSandbox } from './support/sandbox.js';
import type { Reply } from './support/server.js';
import { useWorld } from './support/world.js';

const { world } = useWorld();
const sandboxWorld = useSandbox();

const me = { id: '1', username: 'me' };
const text = 'short enough';

/** X, which makes posts, says more of them than anybody can use, and shows them as they are. */
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
    if (path === '/2/users/me') return { json: { data: me } };
    if (method === 'GET') return { json: { data: made, meta: { result_count: made.length } } };
    const sent = (JSON.parse(body.toString()) as { text: string }).text;
    const id = String(7001 + made.length);
    made.push({ id, text: sent, created_at: new Date().toISOString() });
    const { data, ...rest } = about(sent) as { data?: object };
    return { status: 201, json: { data: { id, ...data }, ...rest } };
  };
  return { answer, made };
};

describe('a post whose answer is too large to be given on', () => {
  const errors = Array.from({ length: 100 }, () => ({ type: 'x/y', detail: '語'.repeat(300) }));
  it.each([
    ['its text', () => ({ data: { text: 'a'.repeat(200_000) } })],
    ['its errors', (sent: string) => ({ data: { text: sent }, errors })],
  ])('by %s is known by its id', async (_, about) => {
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

  it('or to be read at all is looked for, and known by its id', async () => {
    const { answer, made } = talkative(() => ({ data: { text: 'a'.repeat(200_000) } }));
    const { rig } = await world(answer, { maxResponseBytes: 65_536 });
    expect(await rig.data('x_post_tweet', { text }, journaled(rig))).toEqual({ id: '7001', text });
    expect(made).toHaveLength(1);
  });

  it('because it is that long is found again when its end was not seen', async () => {
    const maxPostLength = 25_000;
    const { rig, sandbox } = await sandboxWorld({ maxPostLength }, { maxPostLength });
    sandbox.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], times: 1 }]);
    const posted = await rig.data('x_post_tweet', { text: '👩‍👩‍👦'.repeat(3_000) }, journaled(rig));
    expect(posted['id']).toBe(created(sandbox)[0]?.id);
  });
});

describe('a post that is longer than an answer may be', () => {
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

  it('stands in a list with its beginning, and hides none of the others', async () => {
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
