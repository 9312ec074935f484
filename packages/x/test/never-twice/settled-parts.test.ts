import { createJournal, openEncryption } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { x as pack } from '../../src/index.js';
import { PATIENCE_MS } from '../support/patience.js';
import { created } from '../support/sandbox.js';
import { useStage } from '../support/stage.js';

const stage = useStage();
const tweets = ['one', 'two', 'three'];

/** A thread whose second part is posted, and nobody can see that. */
async function threadWithAnUnknownPart() {
  const { x, server, folder } = await stage({ toolTimeoutSecs: 4, attemptTimeoutSecs: 2 });
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

describe.concurrent('a part of a thread that a person settles', () => {
  it(
    'needs its id, and the next part replies to it',
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
    'is followed by nothing where its record has no id, and never by a tweet of its own',
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
