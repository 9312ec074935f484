import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../store/memory/store.js';
import type { JournalStore } from '../store/store.js';
import { ownerLease } from './owner-lease.js';
import { systemLiveness } from './process.js';

function setUp(change: Partial<JournalStore> = {}) {
  const clock = new VirtualClock({ epoch: 1_000_000 });
  const store = { ...memoryStore({ now: () => clock.wallNow() }), ...change };
  const reports: unknown[] = [];
  let ids = 0;
  const lease = ownerLease({
    store,
    clock,
    self: { host: 'h', pid: 1, startedAt: 's' },
    tools: () => ['post'],
    newId: () => `own${(ids += 1)}`,
    leaseMs: 15_000,
    report: (cause) => reports.push(cause),
  });
  return { clock, store, lease, reports };
}

describe('owner lease', () => {
  it('registers once, on first use, and renews the lease', async () => {
    const { clock, store, lease } = setUp();
    expect(await store.owner('own1')).toBeUndefined();
    expect(await Promise.all([lease.current(), lease.current()])).toEqual(['own1', 'own1']);
    expect(await store.owner('own1')).toMatchObject({ pid: 1, tools: ['post'] });
    await clock.advance(300_000);
    expect((await store.owner('own1'))?.leaseUntil).toBeGreaterThan(clock.wallNow());
    expect(await lease.current()).toBe('own1');
  });

  it('registers under a new id after the lease was ended', async () => {
    const { clock, store, lease } = setUp();
    await lease.current();
    await store.evictOwner('own1');
    await clock.advance(5000);
    expect(await lease.current()).toBe('own2');
    expect([lease.isOurs('own1'), lease.isOurs('own2'), lease.isOurs('own3')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('retries a failed renewal at the next interval', async () => {
    let isDown = true;
    const base = memoryStore({ now: () => 1 });
    const { clock, lease, reports } = setUp({
      ...base,
      renew: (...given) => (isDown ? Promise.reject(new Error('down')) : base.renew(...given)),
    });
    await lease.current();
    await clock.advance(5000);
    expect(reports).toHaveLength(1);
    isDown = false;
    await clock.advance(5000);
    expect(await lease.current()).toBe('own1');
  });

  it('retries a failed registration at the next call', async () => {
    let isDown = true;
    const base = memoryStore({ now: () => 1 });
    const { lease } = setUp({
      ...base,
      registerOwner: (...given) =>
        isDown ? Promise.reject(new Error('down')) : base.registerOwner(...given),
    });
    await expect(lease.current()).rejects.toThrow('down');
    isDown = false;
    expect(await lease.current()).toBe('own2');
  });

  it('deregisters on close and refuses further use', async () => {
    const { clock, store, lease } = setUp();
    await lease.current();
    await lease.close();
    expect((await store.owner('own1'))?.leaseUntil ?? 0).toBeLessThanOrEqual(clock.wallNow());
    await expect(lease.current()).rejects.toThrow('closed');
    expect(clock.pending).toBe(0);
  });
});

it('close succeeds when deregistration fails', async () => {
  const deregisterOwner = () => Promise.reject(new Error('removed'));
  const { lease, reports } = setUp({ deregisterOwner });
  await lease.current();
  await lease.close();
  expect(reports).toEqual([new Error('removed')]);
});

describe('process identity', () => {
  const self = systemLiveness.self();

  it('reports the own process as alive', () => {
    expect(self.pid).toBe(process.pid);
    expect(self.host).not.toBe('');
    expect(systemLiveness.isAlive(self)).toBe(true);
  });

  it('distinguishes processes that reuse a pid by their start time', () => {
    const later = { ...self, startedAt: `${self.startedAt}1` };
    // Without a known start time the process counts as alive.
    expect(systemLiveness.isAlive(later)).toBe(self.startedAt === '');
    expect(systemLiveness.isAlive({ ...self, startedAt: '' })).toBe(true);
    expect(systemLiveness.isAlive({ ...self, pid: 2 ** 22 + 1 })).toBe(false);
  });
});
