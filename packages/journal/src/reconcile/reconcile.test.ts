import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

const post = { text: 'a', idempotency_key: keyFor('a') };

describe('an operation with an unknown outcome', () => {
  it('is never sent again, however often and however late it is called', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    server.journal.start();
    upstream.plans.push({ answers: 'reset' });
    const first = await clock.run(server.call('post', post));
    expect(first).toMatchObject({ error: { code: 'outcome_unknown', retryable: false } });
    for (const pause of [0, 1000, 60_000, 600_000]) {
      await clock.advance(pause);
      const again = await clock.run(server.call('post', post));
      expect(again.error).toMatchObject({
        code: 'outcome_unknown',
        operation_id: first.error?.operation_id,
      });
    }
    expect(upstream.requests).toBe(1);
  });

  it.each(['reset', '503', 'garbage'] as const)(
    'is read back at once, within the call: %s',
    async (answers) => {
      const { clock, start, store, upstream } = rig();
      const server = start();
      upstream.plans.push({ answers });
      const answer = await clock.run(server.call('post_seen', post));
      expect(answer).toMatchObject({ success: true, data: { id: 'e1' } });
      expect((await store.list())[0]).toMatchObject({ state: 'succeeded', outcome: 'executed' });
      expect(server.events).toEqual([]);
    },
  );

  it('is read back concurrently with others and does not delay closing', async () => {
    const { clock, start, upstream, store } = rig();
    const server = start();
    for (const letter of ['a', 'b', 'c']) {
      upstream.plans.push({ answers: 'reset', commits: false });
      await clock.run(server.call('post_seen', { text: letter }));
    }
    server.journal.start();
    Object.assign(upstream, { lookMs: 8_000, looks: 0 });
    while (upstream.looks === 0) await clock.advance(1_000);
    const begun = clock.now();
    await clock.run(server.journal.close(0));
    expect(clock.now() - begun).toBeLessThan(100);
    expect(upstream.looks).toBe(3);
    expect(await store.count(['unknown'])).toBe(3);
  });

  it('stays unknown when it is not found, unless absence is proof', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    server.journal.start();
    upstream.plans.push({ answers: 'reset', commits: false });
    await clock.run(server.call('post_seen', post));
    await clock.advance(900_000);
    const again = await clock.run(server.call('post_seen', post));
    expect(again).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(upstream.requests).toBe(1);
  });

  it('is released when absence is proof and the upstream’s delay has passed', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'reset', commits: false });
    const first = await clock.run(server.call('post_sure', post));
    expect(first).toMatchObject({ error: { code: 'outcome_unknown' } });
    await clock.advance(500);
    const again = await clock.run(server.call('post_sure', post));
    expect(again).toMatchObject({ success: true, meta: { idempotency: { replayed: false } } });
    expect(await store.get(first.error?.operation_id ?? '')).toMatchObject({
      state: 'reconciled',
      outcome: 'not_executed',
      holdsDedupKey: false,
    });
    expect(server.events.map(({ type, result }) => [type, result])).toEqual([
      ['operation_unknown', undefined],
      ['operation_reconciled', 'not_executed'],
    ]);
  });

  it('is not read back with another account that logged in under the same name', async () => {
    let account = 'main#1';
    const { clock, start, store, upstream } = rig({ account: () => account });
    const server = start();
    server.journal.start();
    upstream.plans.push({ answers: 'reset', commits: false });
    const first = await clock.run(server.call('post_sure', post));
    account = 'main#2';
    await clock.advance(900_000);
    const state = async () => (await store.get(first.error?.operation_id ?? ''))?.state;
    expect(await state()).toBe('unknown');
    account = 'main#1';
    await clock.advance(900_000);
    expect(await state()).toBe('reconciled');
  });

  it('is reconciled for all concurrent callers, although only one of them can write', async () => {
    const { clock, start, upstream } = rig();
    upstream.plans.push({ answers: 'reset' });
    upstream.isBlind = true;
    const first = await clock.run(start().call('post_seen', post));
    expect(first).toMatchObject({ error: { code: 'outcome_unknown' } });
    upstream.isBlind = false;
    const servers = [start(), start(), start()];
    const answers = servers.map((server) => clock.run(server.call('post_seen', post)));
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ success: true, data: { id: 'e1' } });
    }
  });

  it('is reconciled in the background with growing delays', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    server.journal.start();
    upstream.plans.push({ answers: 'reset' });
    upstream.isBlind = true;
    const first = await clock.run(server.call('post_seen', post));
    expect(first).toMatchObject({ error: { code: 'outcome_unknown' } });
    const readBacks = (): number => server.reports.length;
    await clock.advance(60_000);
    const early = readBacks();
    expect(early).toBeGreaterThan(2);
    await clock.advance(60_000);
    expect(readBacks() - early).toBeLessThan(early);
    upstream.isBlind = false;
    await clock.advance(300_000);
    expect((await store.list())[0]).toMatchObject({ state: 'reconciled', outcome: 'executed' });
    const again = await clock.run(server.call('post_seen', post));
    expect(again).toMatchObject({ data: { id: 'e1' }, meta: { idempotency: { replayed: true } } });
    expect(server.events.map(({ type }) => type)).toEqual([
      'operation_unknown',
      // Once, although every read-back fails for the same reason.
      'unknown_not_reconciled',
      'operation_reconciled',
      'idempotent_replay',
    ]);
  });

  it('is settled as executed when the data read back does not match the tool’s output', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start({
      reconcilers: { post_seen: () => Promise.resolve({ found: 'executed', data: { wrong: 1 } }) },
    });
    upstream.plans.push({ answers: 'reset' });
    const { error } = await clock.run(server.call('post_seen', post));
    expect(error).toMatchObject({ code: 'internal_error', outcome: 'executed', retryable: false });
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'succeeded' });
  });

  it('does not keep a caller past its deadline, however long a read-back takes', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start({
      reconcilers: { post_seen: () => new Promise(() => undefined) },
    });
    upstream.plans.push({ answers: 'reset' });
    const began = clock.now();
    const { error } = await clock.run(server.call('post_seen', post, { timeoutMs: 2000 }));
    expect(clock.now() - began).toBeLessThanOrEqual(2000);
    expect(error).toMatchObject({ code: 'outcome_unknown' });
    await clock.advance(15_000);
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'unknown' });
  });

  it('is not reported as not_executed to a repeat whose deadline passes during a read-back', async () => {
    const { clock, start, upstream } = rig();
    const reconcilers = { post_seen: () => new Promise<never>(() => undefined) };
    const server = start({ reconcilers });
    upstream.plans.push({ answers: 'reset' });
    await clock.run(server.call('post_seen', post, { timeoutMs: 2000 }));
    for (const one of [server, start({ reconcilers })]) {
      await clock.advance(15_000);
      const began = clock.now();
      const { error } = await clock.run(one.call('post_seen', post, { timeoutMs: 2000 }));
      expect(clock.now() - began).toBeLessThanOrEqual(2000);
      expect(error).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown' });
    }
    expect(upstream.requests).toBe(1);
  });

  it('is not reported as not_executed to a repeat whose deadline passes before the store answers', async () => {
    const { clock, start, upstream } = rig();
    upstream.plans.push({ answers: 'reset' });
    await clock.run(start().call('post', post));
    const slow = start({
      through: (store) => ({ ...store, claim: () => new Promise(() => undefined) }),
    });
    const { error } = await clock.run(slow.call('post', post, { timeoutMs: 2000 }));
    expect(error).toMatchObject({ code: 'db_error', retryable: true, outcome: 'unknown' });
  });

  it('does not exist for an idempotent tool, which is simply repeated', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'reset' });
    const first = await clock.run(server.call('like', { id: '1' }));
    expect(first).toMatchObject({ error: { code: 'upstream_unavailable', outcome: 'unknown' } });
    expect((await store.list())[0]).toMatchObject({ state: 'released', outcome: 'unknown' });
    expect(await clock.run(server.call('like', { id: '1' }))).toMatchObject({ success: true });
  });
});
