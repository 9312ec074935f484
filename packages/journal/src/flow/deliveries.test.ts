import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../fixtures/rig.fixture.js';
import type { Decide } from '../options.js';

const post = { text: 'a' };
const HOUR = 3_600_000;

const requireApproval: Decide = (_, { approved }) =>
  approved
    ? { kind: 'allow', limits: [] }
    : { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: HOUR };

describe('an undelivered result', () => {
  it('was committed twice after the background reconciler had found it', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    server.journal.start();
    upstream.isBlind = true;
    upstream.plans.push({ answers: 'reset' });
    const { error } = await clock.run(server.call('post_seen', post));
    expect(error).toMatchObject({ code: 'outcome_unknown' });
    upstream.isBlind = false;
    await clock.advance(60_000);
    const again = await clock.run(server.call('post_seen', post));
    expect(again).toMatchObject({ data: { id: 'e1' }, meta: { idempotency: { replayed: true } } });
    expect(upstream.effects).toHaveLength(1);
  });

  it('was committed twice after a kill behind the commit and a restart', async () => {
    const { clock, start, upstream } = rig();
    const killed = start();
    void killed.call('post_sure', post);
    await clock.advance(30);
    killed.kill();
    expect(upstream.effects).toHaveLength(1);
    const server = start();
    server.journal.start();
    await clock.advance(60_000);
    expect(await clock.run(server.call('post_sure', post))).toMatchObject({ data: { id: 'e1' } });
    expect(upstream.effects).toHaveLength(1);
  });

  it('was committed twice after an operator had resolved it as executed', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'reset' });
    const { error } = await clock.run(server.call('post', post));
    const resolution = { outcome: 'executed', by: 'ana', data: { id: 'e1' } } as const;
    await server.journal.operations.resolve(error?.operation_id ?? '', resolution);
    await clock.advance(35_000);
    expect(await clock.run(server.call('post', post))).toMatchObject({ data: { id: 'e1' } });
    expect(upstream.effects).toHaveLength(1);
  });

  it('needed a second approval after it had been approved and executed', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval });
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call('post', post));
    const id = error?.operation_id ?? '';
    const hash = (await server.journal.approvals.show(id))?.approval?.hash ?? '';
    await server.journal.approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(41_000);
    expect(upstream.effects).toHaveLength(1);
    expect(await clock.run(server.call('post', post))).toMatchObject({ data: { id: 'e1' } });
    expect(await server.journal.approvals.list()).toEqual([]);
  });

  it('is held for 12 hours, and then released', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('post', post, { delivered: false }));
    await clock.advance(12 * HOUR - 1000);
    await clock.run(server.call('post', post, { delivered: false }));
    expect(upstream.effects).toHaveLength(1);
    await clock.advance(2000);
    await clock.run(server.call('post', post));
    expect(upstream.effects).toHaveLength(2);
  });

  it('is held for the configured time', async () => {
    const { clock, start, upstream } = rig({ undeliveredHoldMs: HOUR });
    const server = start();
    await clock.run(server.call('post', post, { delivered: false }));
    await clock.advance(HOUR + 1000);
    await clock.run(server.call('post', post));
    expect(upstream.effects).toHaveLength(2);
  });

  it('stays held when the replay is not delivered either', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    for (const _ of [1, 2, 3]) {
      await clock.run(server.call('post', post, { delivered: false }));
      await clock.advance(HOUR);
    }
    await clock.run(server.call('post', post));
    await clock.advance(31_000);
    await clock.run(server.call('post', post));
    expect(upstream.effects).toHaveLength(2);
  });

  it('is delivered by get_operation, not by a list of the operator', async () => {
    const { clock, start, upstream, store } = rig();
    const server = start();
    await clock.run(server.call('post', post, { delivered: false }));
    const [{ id } = { id: '' }] = await server.journal.operations.list();
    await server.journal.operations.show(id);
    await clock.advance(2000);
    expect((await store.get(id))?.deliveredAt).toBeUndefined();
    const args = { operation_id: id };
    await clock.run(server.call('get_operation', args, { delivered: false }));
    await clock.advance(2000);
    expect((await store.get(id))?.deliveredAt).toBeUndefined();
    await clock.run(server.call('get_operation', args));
    await clock.advance(32_000);
    await clock.run(server.call('post', post));
    expect(upstream.effects).toHaveLength(2);
  });

  it('is not delivered by an answer without a final outcome', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    // Its own call times out, and another call reports it as in flight.
    upstream.plans.push({ answersAfterMs: 2000 });
    const early = server.call('post', post, { timeoutMs: 500 });
    await clock.run(early);
    await clock.advance(5000);
    const [operation] = await store.list();
    expect(operation?.deliveredAt).toBeUndefined();
  });

  it('is replayed outside the ordinary window with a warning and advice', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('post', post, { delivered: false }));
    const soon = await clock.run(server.call('post', post, { delivered: false }));
    expect(soon.meta.idempotency?.warning).toBeUndefined();
    await clock.advance(HOUR);
    const late = await clock.run(server.call('post', post));
    expect(late.meta.idempotency?.warning).toMatch(
      /^This act was first performed at 2026-.*NOT performed again.*allow_duplicate: true/,
    );
    const meant = { ...post, allow_duplicate: true, idempotency_key: keyFor('again') };
    expect(await clock.run(server.call('post', meant))).toMatchObject({ data: { id: 'e2' } });
    expect(upstream.effects).toHaveLength(2);
  });

  it('has its delivery recorded when the process closes', async () => {
    const { clock, start, store } = rig();
    const server = start();
    await clock.run(server.call('post', post));
    await clock.run(server.journal.close());
    expect((await store.list())[0]?.deliveredAt).toBeDefined();
  });

  it('is held when its delivery could not be written, and released when it is', async () => {
    let isDown = true;
    const { clock, start, store } = rig({
      through: (inner) => ({
        ...inner,
        markDelivered: (marks) =>
          isDown ? Promise.reject(new Error('down')) : inner.markDelivered(marks),
      }),
    });
    const server = start();
    await clock.run(server.call('post', post));
    await clock.advance(5000);
    expect((await store.list())[0]?.deliveredAt).toBeUndefined();
    isDown = false;
    await clock.advance(2000);
    const { deliveredAt = 0, settledAt = 0 } = (await store.list())[0] ?? {};
    // From the delivery, not from its write.
    expect(deliveredAt - settledAt).toBeLessThan(1000);
  });

  it('of an idempotent tool or a rejection has a window from its settlement', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('like', { id: '1' }, { delivered: false }));
    upstream.plans.push({ answers: '400', commits: false });
    await clock.run(server.call('post', post, { delivered: false }));
    await clock.advance(31_000);
    await clock.run(server.call('like', { id: '1' }));
    await clock.run(server.call('post', post));
    expect(upstream.effects.map(({ kind }) => kind)).toEqual(['like', 'like', 'post']);
  });
});
