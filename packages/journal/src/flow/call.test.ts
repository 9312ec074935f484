import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../testing/rig.fixture.js';

describe('a call', () => {
  it('acts once and says so', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const first = await clock.run(server.call('post', { text: 'a' }));
    expect(first).toMatchObject({
      success: true,
      data: { id: 'e1' },
      meta: { idempotency: { replayed: false } },
    });
    const again = await clock.run(server.call('post', { text: 'a' }));
    expect(again).toMatchObject({
      success: true,
      data: { id: 'e1' },
      meta: { idempotency: { replayed: true, first_at: '2026-03-01T12:00:00.000Z' } },
    });
    expect(upstream.effects).toHaveLength(1);
    expect(server.events).toMatchObject([{ type: 'idempotent_replay' }]);
  });
  it('x', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'reset' });
    console.log(JSON.stringify(await clock.run(server.call('post', { text: 'a', idempotency_key: keyFor('a') }))));
    console.log(JSON.stringify(await clock.run(server.call('post', { text: 'a', idempotency_key: keyFor('a') }))));
    upstream.plans.push({ answers: 'reset' });
    console.log(JSON.stringify(await clock.run(server.call('post_seen', { text: 'a', idempotency_key: keyFor('a') }))));
    upstream.plans.push({ answers: 'reset', commits: false });
    console.log(JSON.stringify(await clock.run(server.call('post_sure', { text: 'a', idempotency_key: keyFor('a') }))));
    console.log(JSON.stringify(await clock.run(server.call('post_sure', { text: 'a', idempotency_key: keyFor('a') }))));
    upstream.plans.push({}, { answers: '429', commits: false });
    console.log(JSON.stringify(await clock.run(server.call('thread', { posts: ['a', 'b', 'c'] }))));
    console.log(JSON.stringify(await clock.run(server.call('thread', { posts: ['a', 'b', 'c'] }))));
    upstream.plans.push({ answers: 'never' });
    console.log(JSON.stringify(await clock.run(server.call('post', { text: 'late' }, { timeoutMs: 1000 }))));
    console.log(upstream.effects, server.reports);
  });
});
