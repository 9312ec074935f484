import { createJournal, openEncryption } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { x as pack } from '../../src/index.js';
import { PATIENCE_MS } from '../support/closing.js';
import { created } from '../support/rig.js';
import { brief, useStage } from '../support/stage.js';

const stage = useStage();
const thread = { tweets: ['one', 'two', 'three'] };
const keyed = { ...thread, idempotency_key: 'a-key-of-sixteen-or-more' };

/** A thread with two posted parts. */
async function halfAThread(args: object) {
  const { x, server } = await stage();
  x.setFaults([{ kind: 'x-403-not-permitted', routes: ['create-post'], skip: 2, times: 1 }]);
  const answer = await server.call('x_post_thread', args);
  expect(answer).toMatchObject({ error: { code: 'thread_partial_failure' } });
  const made = () =>
    x.commits({ kind: 'post.created' }).map((commit) => ('id' in commit ? commit.id : ''));
  const remove = async (id: string | undefined) =>
    expect(await server.call('x_delete_tweet', { tweet_id: id })).toMatchObject({ success: true });
  return { x, server, made, remove, again: () => server.call('x_post_thread', args) };
}

describe('a partially posted thread', () => {
  it(
    'starts again if its first tweet was deleted',
    async () => {
      const { made, remove, again } = await halfAThread(thread);
      await remove(made()[0]);
      const answer = await again();
      expect(made()).toHaveLength(5);
      expect(answer).toMatchObject({ success: true, data: { root_id: made()[2] } });
    },
    PATIENCE_MS,
  );

  it(
    'resumes if a delete was rejected, also while X shows nothing yet',
    async () => {
      const { x, server, made, again } = await halfAThread(keyed);
      x.setLag(60_000);
      x.setFaults([{ kind: 'x-403-not-permitted', routes: ['delete-post'], times: 1 }]);
      expect(await server.call('x_delete_tweet', { tweet_id: made()[0] })).toMatchObject({
        error: { code: 'x_forbidden', outcome: 'not_executed' },
      });
      expect(await again()).toMatchObject({ success: true, data: { root_id: made()[0] } });
      expect(made()).toHaveLength(3);
    },
    PATIENCE_MS,
  );

  it.each([
    ['another of its tweets', thread, [1]],
    ['the first tweet of a key', keyed, [0]],
    ['every tweet of a key', keyed, [0, 1]],
  ])(
    'does not resume if %s was deleted',
    async (_, args, deleted) => {
      const { made, remove, again } = await halfAThread(args);
      for (const index of deleted) await remove(made()[index]);
      const left = [0, 1].filter((index) => !deleted.includes(index));
      for (const answer of [await again(), await again()]) {
        expect(answer).toMatchObject({
          success: false,
          data: {
            posted: left.map((index) => ({ index, id: made()[index] })),
            failed: { index: deleted[0], code: 'not_found' },
            unposted: 3 - left.length,
          },
          error: {
            code: 'not_found',
            retryable: false,
            details: { id: made()[deleted[0]!] },
          },
        });
      }
      expect(made()).toHaveLength(2);
    },
    PATIENCE_MS,
  );

  it(
    'resumes if another tweet was deleted',
    async () => {
      const { server, made, remove, again } = await halfAThread(thread);
      await server.call('x_post_tweet', { text: 'something else' });
      await remove(made()[2]);
      expect(await again()).toMatchObject({ success: true, data: { root_id: made()[0] } });
    },
    PATIENCE_MS,
  );
});

const tweets = ['one', 'two', 'three'];

/** A thread whose second part is posted and not visible. */
async function threadWithAnUnknownPart() {
  const { x, server, folder } = await stage({}, brief);
  x.setLag(600_000);
  x.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], skip: 1, times: 1 }]);
  const { error } = await server.call('x_post_thread', { tweets });
  const id = error?.operation_id ?? '';
  const encryption = await openEncryption(server.store, folder);
  const resolve = async (data: unknown, knows = pack.describe()) => {
    const tools = { specs: () => knows, load: () => undefined };
    const operatorJournal = createJournal({ store: server.store, encryption, tools });
    try {
      await operatorJournal.operations.resolve(id, { outcome: 'executed', by: 'ana', data });
    } finally {
      await operatorJournal.close();
    }
  };
  const posts = () => created(x).map(({ text, reply_to: to }) => ({ text, to }));
  const again = () => server.call('x_post_thread', { tweets });
  return { x, resolve, again, posts };
}

describe.concurrent('a part of a thread that an operator settles', () => {
  it(
    'requires its id, which the next part replies to',
    async () => {
      const { x, resolve, again, posts } = await threadWithAnUnknownPart();
      const [root, second] = created(x);
      for (const data of [undefined, {}, { tweet_id: '1' }, { id: '' }]) {
        await expect(resolve(data)).rejects.toThrow('data.id');
      }
      await resolve({ id: second?.id });
      expect(await again()).toMatchObject({
        success: true,
        data: { tweets: tweets.map((text) => ({ text })) },
      });
      expect(posts()[2]).toEqual({ text: 'three', to: second?.id });
      expect(posts()[1]?.to).toBe(root?.id);
    },
    PATIENCE_MS,
  );

  it(
    'without an id is never followed by a tweet outside the thread',
    async () => {
      const { resolve, again, posts } = await threadWithAnUnknownPart();
      await resolve({ tweet_id: '1' }, []);
      const { error } = await again();
      expect(error).toMatchObject({ code: 'thread_partial_failure' });
      expect(error?.message).toContain('Ask the operator');
      expect(posts()).toHaveLength(2);
    },
    PATIENCE_MS,
  );
});
