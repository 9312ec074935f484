import { describe, expect, it } from 'vitest';
import type { Envelope, OtherOperation } from '@toolkeel/contract';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

const post = (name: string) => ({ text: name, idempotency_key: keyFor(name) });

describe('whoever looks for what became of an operation', () => {
  it('hears what the others of its account have, and which of them are open', async () => {
    const { clock, start, upstream } = rig();
    let heard: readonly OtherOperation[] = [];
    const server = start({
      reconcilers: {
        post_seen: async ({ others }) => {
          heard = await others();
          return { found: 'unknown' };
        },
      },
    });
    await clock.run(server.call('post', post('a')));
    upstream.plans.push({ answers: 'reset' }, { answers: 'reset' });
    const opened = clock.wallNow();
    await clock.run(server.call('post', post('b')));
    await clock.run(server.call('post_seen', post('c')));
    expect(heard).toMatchObject([
      { tool: 'post', args: { text: 'b' }, openSince: opened },
      { tool: 'post', args: { text: 'a' }, results: [{ id: 'e1' }] },
    ]);
    expect(heard[1]?.openSince).toBeUndefined();
    await clock.advance(86_400_000);
    upstream.plans.push({ answers: 'reset' });
    await clock.run(server.call('post_seen', post('d')));
    expect(heard.map(({ args }) => args['text'])).toEqual(['c', 'b']);
  });

  it('hears that one was carried out of which nobody has the answer, and when', async () => {
    const { clock, start, upstream } = rig();
    let heard: readonly OtherOperation[] = [];
    const server = start({
      reconcilers: {
        post_seen: async ({ others }) => {
          heard = await others(['post']);
          return { found: 'unknown' };
        },
      },
    });
    upstream.plans.push({ answers: 'reset' });
    const sent = clock.wallNow();
    const { error } = failureOf(await clock.run(server.call('post', post('a'))));
    await clock.advance(1_000);
    const said = { outcome: 'executed', by: 'ana', reason: 'seen on the page' } as const;
    await server.journal.operations.resolve(error.operation_id ?? '', said);
    await clock.run(server.call('reply', { to: 'x', text: 'not asked for' }));
    upstream.plans.push({ answers: 'reset' });
    await clock.run(server.call('post_seen', post('b')));
    expect(heard).toMatchObject([{ tool: 'post', args: { text: 'a' }, executedAt: sent }]);
    expect(heard[0]?.results).toEqual([]);
  });

  it.each([
    ['x:7', 'x:7', true],
    ['x:6', 'x:7', false],
    ['other', 'main', false],
  ])('hears what %s has when it is %s, and whether they are the same', async (one, own, isOne) => {
    const { clock, start, upstream } = rig();
    let heard: readonly OtherOperation[] = [];
    let account = one;
    const server = start({
      account: () => account,
      reconcilers: {
        post_seen: async ({ others }) => {
          heard = await others();
          return { found: 'unknown' };
        },
      },
    });
    await clock.run(server.call('post', post('a')));
    upstream.plans.push({ answers: 'reset' }, { answers: 'reset' });
    await clock.run(server.call('post', post('b')));
    account = own;
    await clock.run(server.call('post_seen', post('c')));
    expect(heard.map(({ results }) => results)).toEqual([[], [{ id: 'e1' }]]);
    expect(heard.map(({ openSince }) => openSince !== undefined)).toEqual([isOne, false]);
    expect(heard.map(({ executedAt }) => executedAt !== undefined)).toEqual([false, isOne]);
  });
});

function failureOf(envelope: Envelope) {
  if (envelope.success) throw new Error('it succeeded');
  return envelope;
}
