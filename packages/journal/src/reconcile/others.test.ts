import { describe, expect, it } from 'vitest';
import type { OtherOperation } from '@toolkeel/contract';
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
});
