import type { FaultRule } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../support/closing.js';
import { type Governed, settledCall } from '../support/governed.js';
import { brief, useStage } from '../support/stage.js';

const stage = useStage();

const cafe = 'Café crème à l’Étoile';

describe.concurrent('posts that are equal to X', () => {
  it.each([
    ['in NFC and in NFD', 'x_post_tweet', [{ text: cafe }, { text: cafe.normalize('NFD') }]],
    ['with blanks at its end', 'x_post_tweet', [{ text: 'hello' }, { text: 'hello \n' }]],
    [
      'with made_with_ai: false and without',
      'x_post_tweet',
      [{ text: 'hello' }, { text: 'hello', made_with_ai: false }],
    ],
    [
      'with an empty list of media and without',
      'x_post_tweet',
      [{ text: 'hello' }, { text: 'hello', media_ids: [] }],
    ],
    [
      'as a thread with empty lists of media and without',
      'x_post_thread',
      [
        { tweets: ['one', 'two'] },
        { tweets: ['one', 'two'], media_ids: [] },
        { tweets: ['one', 'two'], media_ids: [[]] },
        { tweets: ['one', 'two'], media_ids: [[], []] },
        { tweets: ['one', 'two'], media_ids: [[], [], []] },
      ],
    ],
  ])(
    '%s',
    async (_, tool, calls) => {
      const { x, server } = await stage();
      const answers = [];
      for (const args of calls) answers.push(await server.call(tool, args));
      const parts = tool === 'x_post_thread' ? 2 : 1;
      expect(x.commits({ kind: 'post.created' })).toHaveLength(parts);
      for (const answer of answers) expect(answer.data).toEqual(answers[0]?.data);
    },
    PATIENCE_MS,
  );

  it(
    'a key covers all spellings of a text, and no other text',
    async () => {
      const { x, server } = await stage();
      const idempotency_key = 'a-key-of-sixteen-or-more';
      const post = (text: string) => server.call('x_post_tweet', { text, idempotency_key });
      const first = await post(cafe);
      expect(await post(cafe.normalize('NFD'))).toMatchObject({ data: first.data });
      expect(await post('Cafe creme')).toMatchObject({ error: { code: 'idempotency_conflict' } });
      expect(x.commits({ kind: 'post.created' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});

const onPost = (kind: FaultRule['kind'], skip: number): FaultRule => ({
  kind,
  routes: ['create-post'],
  times: 1,
  skip,
});

const key = (letter: string) => ({ idempotency_key: letter.repeat(20) });
const unknown = { success: false, error: { code: 'outcome_unknown', outcome: 'unknown' } };

/**
 * Until its answer counts as delivered, a post excludes an equal one with another key. A client in the same
 * process can be faster than the server's notice that its response was written.
 */
async function delivered({ store }: Governed): Promise<void> {
  const isDelivered = async () => (await store.list()).every(({ deliveredAt }) => deliveredAt);
  await expect.poll(isDelivered).toBe(true);
}

describe.concurrent('the same text, posted twice on purpose', () => {
  it.each([
    ['with keys of their own', 'close-before-read', key('a'), key('b')],
    ['as a duplicate that is allowed', 'reset-before-read', {}, { allow_duplicate: true }],
  ] as const)(
    '%s: the post of the first is not what became of the second',
    async (_, kind, first, second) => {
      const { x, server } = await stage({}, brief);
      x.setFaults([onPost(kind, 1)]);
      const text = 'twin text';
      expect(await server.call('x_post_tweet', { text, ...first })).toMatchObject({
        success: true,
      });
      await delivered(server);
      expect(await server.call('x_post_tweet', { text, ...second })).toMatchObject(unknown);
      expect(x.commits({ kind: 'post.created' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );

  it(
    'and both executed: each has its own post',
    async () => {
      const { x, server } = await stage({}, brief);
      x.setFaults([onPost('acted-http-503', 1)]);
      const args = { text: 'Thanks!', in_reply_to_id: x.landmarks.mentionId };
      const first = await server.call('x_reply_to_tweet', { ...args, ...key('a') });
      await delivered(server);
      const answers = [first, await server.call('x_reply_to_tweet', { ...args, ...key('b') })];
      const made = x.commits({ kind: 'post.created' });
      expect(made).toHaveLength(2);
      expect(answers.map(({ data }) => data)).toMatchObject(
        made.map((commit) => ({ id: 'id' in commit ? commit.id : '' })),
      );
    },
    PATIENCE_MS,
  );

  it(
    'and the first was a single post: a thread with the same start does not continue below it',
    async () => {
      const { x, server } = await stage({}, brief);
      const first = { tweets: ['daily update', 'one'], ...key('a') };
      expect(await server.call('x_post_thread', first)).toMatchObject({ success: true });
      x.setFaults([onPost('http-503', 0)]);
      const second = { tweets: ['daily update', 'two'], ...key('b') };
      expect(await server.call('x_post_thread', second)).toMatchObject(unknown);
      await server.call('x_post_tweet', { text: 'weekly update', ...key('c') });
      x.setFaults([onPost('http-503', 0)]);
      const third = { tweets: ['weekly update', 'three'], ...key('d') };
      expect(await server.call('x_post_thread', third)).toMatchObject(unknown);
      expect(x.commits({ kind: 'post.created' })).toHaveLength(3);
    },
    PATIENCE_MS,
  );

  it(
    'and both unknown: one post is attributed to neither',
    async () => {
      const { x, server } = await stage({}, brief);
      x.setLag(60_000);
      x.setFaults([onPost('acted-http-503', 0), onPost('close-before-read', 0)]);
      const calls = ['a', 'b'].map((letter) =>
        server.call('x_post_tweet', { text: 'twin text', ...key(letter) }),
      );
      expect(await Promise.all(calls)).toMatchObject([unknown, unknown]);
      x.setLag(0);
      for (const letter of ['a', 'b']) {
        const args = { text: 'twin text', ...key(letter) };
        const again = await settledCall(server, 'x_post_tweet', args);
        expect(again).toMatchObject(unknown);
      }
      expect(x.commits({ kind: 'post.created' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );

  it.each([
    ['the one with a poll', [{}, { poll: true }]],
    ['the one without', [{ poll: true }, {}]],
  ])(
    'and one with a poll: %s is identified by it',
    async (_, calls) => {
      const { x, server } = await stage({}, brief);
      const poll = { options: ['yes & no', 'neither'], duration_minutes: 60 };
      const ask = (at: number, letter: string) =>
        settledCall(server, 'x_post_tweet', {
          text: 'Tea?',
          ...('poll' in calls[at]! && { poll }),
          ...key(letter),
        });
      const lagged = x.commits().length;
      x.setLag(60_000);
      x.setFaults([onPost('acted-http-503', 0), onPost('acted-http-503', 0)]);
      expect([await ask(0, 'a'), await ask(1, 'b')]).toMatchObject([unknown, unknown]);
      x.setLag(0);
      const made = x.commits({ after: lagged, kind: 'post.created' });
      expect(await ask(1, 'b')).toMatchObject({ data: { id: 'id' in made[1]! && made[1].id } });
      expect(await ask(0, 'a')).toMatchObject({ data: { id: 'id' in made[0]! && made[0].id } });
      expect(made).toHaveLength(2);
    },
    PATIENCE_MS,
  );
});
