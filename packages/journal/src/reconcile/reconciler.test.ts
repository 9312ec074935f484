import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

const unknown = (name: string) => ({ text: name, idempotency_key: keyFor(name) });

describe('the background reconciler', () => {
  it('was starved forever by a hundred newer operations that cannot be read back', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    upstream.isBlind = true;
    upstream.planFor = () => ({ answers: 'reset' });
    const { error } = await clock.run(server.call('post_seen', unknown('old')));
    for (let n = 0; n < 120; n += 1) await clock.run(server.call('post', unknown(`blind ${n}`)));
    upstream.isBlind = false;
    server.journal.start();
    await clock.advance(60_000);
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ outcome: 'executed' });
  });

  it('reaches every operation, however long the first ones stay unknown', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    upstream.isBlind = true;
    upstream.planFor = (_, subject) => ({ answers: 'reset', commits: subject.startsWith('done') });
    for (let n = 0; n < 60; n += 1) await clock.run(server.call('post_seen', unknown(`no ${n}`)));
    for (let n = 0; n < 5; n += 1) await clock.run(server.call('post_seen', unknown(`done ${n}`)));
    upstream.isBlind = false;
    server.journal.start();
    await clock.advance(120_000);
    expect(await store.count(['reconciled'])).toBe(5);
  });

  it('settles as not_executed after two read-backs, with the evidence in the audit', async () => {
    let readBacks = 0;
    const { clock, start, store, upstream } = rig();
    const server = start({
      reconciles: {
        post_seen: {
          authoritative: true,
          actsWithinMs: 10_000,
          confirmAfterMs: 60_000,
          readBack: async () => ({ found: 'absent', evidence: { newest: `e${(readBacks += 1)}` } }),
        },
      },
    });
    upstream.plans.push({ answers: 'reset', commits: false });
    const { error } = await clock.run(server.call('post_seen', unknown('a')));
    const id = error?.operation_id ?? '';
    server.journal.start();
    await clock.advance(30_000);
    expect(await store.get(id)).toMatchObject({ state: 'unknown' });
    await clock.advance(300_000);
    expect(await store.get(id)).toMatchObject({ state: 'reconciled', outcome: 'not_executed' });
    const rows = await store.auditRows(1, 100);
    const { detail = '' } = rows.find(({ kind }) => kind === 'reconciled') ?? {};
    const { evidence } = JSON.parse(detail) as { evidence: readonly { evidence: unknown }[] };
    expect(evidence).toHaveLength(2);
    expect(evidence[0]).not.toEqual(evidence[1]);
  });

  it('does not accept absence without evidence of newer state as proof', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start({
      reconciles: {
        post_seen: {
          authoritative: true,
          confirmAfterMs: 60_000,
          readBack: async () => ({ found: 'absent' }),
        },
      },
    });
    upstream.plans.push({ answers: 'reset', commits: false });
    const { error } = await clock.run(server.call('post_seen', unknown('a')));
    server.journal.start();
    await clock.advance(3_600_000);
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'unknown' });
  });
});
