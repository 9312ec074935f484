import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

describe('a compensated operation', () => {
  it('can be repeated: like, unlike, like', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const run = (tool: string) => clock.run(server.call(tool, { id: '1' }));
    for (const tool of ['like', 'like', 'unlike', 'like']) await run(tool);
    expect(upstream.effects.map(({ kind }) => kind)).toEqual(['like', 'unlike', 'like']);
  });

  it('is found by its arguments, and others keep their dedup keys', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    for (const id of ['1', '2']) await clock.run(server.call('like', { id }));
    await clock.run(server.call('unlike', { id: '1' }));
    for (const id of ['1', '2']) await clock.run(server.call('like', { id }));
    expect(upstream.effects.map(({ subject }) => subject)).toEqual(['1', '2', '1', '1']);
  });

  it('is found by its answer, among all counterpart tools', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('post', { text: 'a' }));
    await clock.run(server.call('post', { text: 'b' }));
    await clock.run(server.call('reply', { to: '1', text: 'x' }));
    for (const id of ['e1', 'e3']) await clock.run(server.call('delete', { id }));
    await clock.run(server.call('post', { text: 'a' }));
    await clock.run(server.call('post', { text: 'b' }));
    await clock.run(server.call('reply', { to: '1', text: 'y' }));
    const done = upstream.effects.filter(({ kind }) => kind !== 'delete');
    expect(done.map(({ subject }) => subject)).toEqual(['a', 'b', '1', 'a', '1']);
  });

  it('keeps its answer under its idempotency key', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const like = { id: '1', idempotency_key: keyFor('like') };
    await clock.run(server.call('like', like));
    await clock.run(server.call('unlike', { id: '1' }));
    expect(await clock.run(server.call('like', like))).toMatchObject({
      meta: { idempotency: { replayed: true } },
    });
    expect(upstream.effects).toHaveLength(2);
  });

  it('keeps its dedup key after a failed or unknown inverse', async () => {
    for (const plan of [{ answers: '400', commits: false }, { answers: '503' }] as const) {
      const { clock, start, upstream } = rig();
      const server = start();
      await clock.run(server.call('post', { text: 'a' }));
      upstream.plans.push(plan);
      await clock.run(server.call('delete', { id: 'e1' }));
      expect(await clock.run(server.call('post', { text: 'a' }))).toMatchObject({
        data: { id: 'e1' },
      });
      expect(upstream.effects.filter(({ kind }) => kind === 'post')).toHaveLength(1);
    }
  });

  it('of an idempotent tool is sent again, whether or not the inverse’s outcome is known', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('like', { id: '1' }));
    upstream.plans.push({ answers: '503' });
    expect(await clock.run(server.call('unlike', { id: '1' }))).toMatchObject({ success: false });
    await clock.run(server.call('like', { id: '1' }));
    expect(upstream.effects.map(({ kind }) => kind)).toEqual(['like', 'unlike', 'like']);
  });

  it('of an inverse whose process was killed is sent again as well', async () => {
    const { clock, start, upstream } = rig();
    const first = start();
    await clock.run(first.call('like', { id: '1' }));
    upstream.plans.push({ answers: 'never' });
    void first.call('unlike', { id: '1' });
    await clock.advance(100);
    first.kill();
    await clock.run(start().call('like', { id: '1' }));
    expect(upstream.effects.map(({ kind }) => kind)).toEqual(['like', 'unlike', 'like']);
  });

  it('can be compensated repeatedly: inverses hold no content', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    for (let i = 0; i < 3; i += 1) await clock.run(server.call('unlike', { id: '1' }));
    expect(upstream.requests).toBe(3);
  });
});
