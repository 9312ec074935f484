import { createJournal, openEncryption, type Resolution } from '@toolkeel/journal';
import type { FaultRule } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { x as pack } from '../../src/index.js';
import { settledCall } from '../support/connect.js';
import type { Governed } from '../support/governed.js';
import { PATIENCE_MS } from '../support/patience.js';
import { created } from '../support/sandbox.js';
import { useStage } from '../support/stage.js';

const stage = useStage();
const config = { toolTimeoutSecs: 3, attemptTimeoutSecs: 2 };
const unknown = { success: false, error: { code: 'outcome_unknown', outcome: 'unknown' } };

const onPost = (kind: FaultRule['kind']): FaultRule => ({
  kind,
  routes: ['create-post'],
  times: 1,
});

/** A desk that knows the pack's tools, as the command line's does, or none of them. */
async function settle(
  { store }: Governed,
  folder: string,
  id: string | undefined,
  data?: unknown,
  knows = pack.describe(),
): Promise<void> {
  const encryption = await openEncryption(store, folder);
  const tools = { specs: () => knows, load: () => undefined };
  const operatorJournal = createJournal({ store, encryption, tools });
  const said: Resolution = { outcome: 'executed', by: 'ana', ...(data !== undefined && { data }) };
  try {
    await operatorJournal.operations.resolve(id ?? '', said);
  } finally {
    await operatorJournal.close();
  }
}

describe.concurrent('a post that a person has seen', () => {
  it.each([
    ['without its id', undefined],
    ['with an id that nobody can read', { tweet: 'the one on the page' }],
  ])(
    'and settled %s, is not given to its twin',
    async (_, data) => {
      const { x, server, folder } = await stage(config);
      const lost = { text: 'daily update', idempotency_key: 'b'.repeat(20) };
      x.setFaults([onPost('close-before-read')]);
      expect(await server.call('x_post_tweet', lost)).toMatchObject(unknown);
      x.setFaults([onPost('acted-http-503')]);
      const seen = { ...lost, idempotency_key: 'a'.repeat(20), allow_duplicate: true };
      const { error } = await server.call('x_post_tweet', seen);
      await settle(server, folder, error?.operation_id, data, []);
      expect(await settledCall(server, 'x_post_tweet', lost)).toMatchObject(unknown);
      expect(x.commits({ kind: 'post.created' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});

describe.concurrent('equal parts of two threads', () => {
  it(
    'one of which nobody knows: the other is known by the post that it replies to',
    async () => {
      const { x, server } = await stage({ toolTimeoutSecs: 5, attemptTimeoutSecs: 2 });
      await server.call('x_get_me');
      x.setFaults([{ ...onPost('close-before-read'), skip: 1 }]);
      const first = { tweets: ['how terns fish', 'more to come'] };
      expect(await server.call('x_post_thread', first)).toMatchObject(unknown);
      x.setFaults([{ ...onPost('acted-http-503'), skip: 1 }]);
      const second = { tweets: ['how gulls nest', 'more to come'] };
      const answer = await server.call('x_post_thread', second);
      const [, ...made] = created(x);
      expect(made).toHaveLength(2);
      expect(answer).toMatchObject({ data: { tweets: made.map(({ id }) => ({ id })) } });
    },
    PATIENCE_MS,
  );
});
