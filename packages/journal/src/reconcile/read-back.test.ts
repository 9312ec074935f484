import { describe, expect, it } from 'vitest';
import type { Envelope, OtherOperation } from '@toolkeel/contract';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

const post = (name: string) => ({ text: name, idempotency_key: keyFor(name) });

describe('a read-back', () => {
  it('gets the results of other operations of the account, and which of them are open', async () => {
    const { clock, start, upstream } = rig();
    let seen: readonly OtherOperation[] = [];
    const server = start({
      reconcilers: {
        post_seen: async ({ others }) => {
          seen = await others();
          return { found: 'unknown' };
        },
      },
    });
    await clock.run(server.call('post', post('a')));
    upstream.plans.push({ answers: 'reset' }, { answers: 'reset' });
    const opened = clock.wallNow();
    await clock.run(server.call('post', post('b')));
    await clock.run(server.call('post_seen', post('c')));
    expect(seen).toMatchObject([
      { tool: 'post', args: { text: 'b' }, openSince: opened },
      { tool: 'post', args: { text: 'a' }, results: [{ id: 'e1' }] },
    ]);
    expect(seen[1]?.openSince).toBeUndefined();
    await clock.advance(86_400_000);
    upstream.plans.push({ answers: 'reset' });
    await clock.run(server.call('post_seen', post('d')));
    expect(seen.map(({ args }) => args['text'])).toEqual(['c', 'b']);
  });

  it('gets an executed operation without an answer, and when it was sent', async () => {
    const { clock, start, upstream } = rig();
    let seen: readonly OtherOperation[] = [];
    const server = start({
      reconcilers: {
        post_seen: async ({ others }) => {
          seen = await others(['post']);
          return { found: 'unknown' };
        },
      },
    });
    upstream.plans.push({ answers: 'reset' });
    const sent = clock.wallNow();
    const { error } = failureOf(await clock.run(server.call('post', post('a'))));
    await clock.advance(1_000);
    const resolution = { outcome: 'executed', by: 'ana', reason: 'seen on the page' } as const;
    await server.journal.operations.resolve(error.operation_id ?? '', resolution);
    await clock.run(server.call('reply', { to: 'x', text: 'unrelated' }));
    upstream.plans.push({ answers: 'reset' });
    await clock.run(server.call('post_seen', post('b')));
    expect(seen).toMatchObject([{ tool: 'post', args: { text: 'a' }, executedAt: sent }]);
    expect(seen[0]?.results).toEqual([]);
  });

  it.each([
    ['x:7', 'x:7', true],
    ['x:6', 'x:7', false],
    ['other', 'main', false],
  ])(
    'gets the operations of %s when it acts for %s, and whether they are one account',
    async (one, own, isOne) => {
      const { clock, start, upstream } = rig();
      let seen: readonly OtherOperation[] = [];
      let account = one;
      const server = start({
        account: () => account,
        reconcilers: {
          post_seen: async ({ others }) => {
            seen = await others();
            return { found: 'unknown' };
          },
        },
      });
      await clock.run(server.call('post', post('a')));
      upstream.plans.push({ answers: 'reset' }, { answers: 'reset' });
      await clock.run(server.call('post', post('b')));
      account = own;
      await clock.run(server.call('post_seen', post('c')));
      expect(seen.map(({ results }) => results)).toEqual([[], [{ id: 'e1' }]]);
      expect(seen.map(({ openSince }) => openSince !== undefined)).toEqual([isOne, false]);
      expect(seen.map(({ executedAt }) => executedAt !== undefined)).toEqual([false, isOne]);
    },
  );
});

function failureOf(envelope: Envelope) {
  if (envelope.success) throw new Error('it succeeded');
  return envelope;
}
