import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../store/memory/store.js';
import type { JournalStore } from '../store/store.js';
import { systemLiveness } from './process.js';
import { tenure } from './owner-lease.js';

function setUp(change: Partial<JournalStore> = {}) {
  const clock = new VirtualClock({ epoch: 1_000_000 });
  const store = { ...memoryStore({ now: () => clock.wallNow() }), ...change };
  const reports: unknown[] = [];
  let ids = 0;
  const held = tenure({
    store,
    clock,
    self: { host: 'h', pid: 1, startedAt: 's' },
    tools: () => ['post'],
    newId: () => `own${(ids += 1)}`,
    leaseMs: 15_000,
    report: (cause) => reports.push(cause),
  });
  return { clock, store, held, reports };
}

describe('the lease of a process', () => {
  it('is taken when it is first needed, once, and kept alive', async () => {
    const { clock, store, held } = setUp();
    expect(await store.owner('own1')).toBeUndefined();
    expect(await Promise.all([held.current(), held.current()])).toEqual(['own1', 'own1']);
    expect(await store.owner('own1')).toMatchObject({ pid: 1, tools: ['post'] });
    await clock.advance(300_000);
    expect((await store.owner('own1'))?.leaseUntil).toBeGreaterThan(clock.wallNow());
    expect(await held.current()).toBe('own1');
  });

  it('that lapsed is followed by another one, under a new name', async () => {
    const { clock, store, held } = setUp();
    await held.current();
    await store.evictOwner('own1');
    await clock.advance(5000);
    expect(await held.current()).toBe('own2');
    expect([held.isOurs('own1'), held.isOurs('own2'), held.isOurs('own3')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('that could not be renewed is renewed later', async () => {
    let isDown = true;
    const base = memoryStore({ now: () => 1 });
    const { clock, held, reports } = setUp({
      ...base,
      renew: (...given) => (isDown ? Promise.reject(new Error('down')) : base.renew(...given)),
    });
    await held.current();
    await clock.advance(5000);
    expect(reports).toHaveLength(1);
    isDown = false;
    await clock.advance(5000);
    expect(await held.current()).toBe('own1');
  });

  it('that could not be taken is tried again by the next call', async () => {
    let isDown = true;
    const base = memoryStore({ now: () => 1 });
    const { held } = setUp({
      ...base,
      registerOwner: (...given) =>
        isDown ? Promise.reject(new Error('down')) : base.registerOwner(...given),
    });
    await expect(held.current()).rejects.toThrow('down');
    isDown = false;
    expect(await held.current()).toBe('own2');
  });

  it('ends when the process leaves, and nothing is begun after that', async () => {
    const { clock, store, held } = setUp();
    await held.current();
    await held.close();
    expect((await store.owner('own1'))?.leaseUntil ?? 0).toBeLessThanOrEqual(clock.wallNow());
    await expect(held.current()).rejects.toThrow('closed');
    expect(clock.pending).toBe(0);
  });
});

it('a process leaves though its store is gone: the lease lapses by itself', async () => {
  const deregisterOwner = () => Promise.reject(new Error('removed'));
  const { held, reports } = setUp({ deregisterOwner });
  await held.current();
  await held.close();
  expect(reports).toEqual([new Error('removed')]);
});

describe('who this process is', () => {
  const self = systemLiveness.self();

  it('is said so that another process can tell whether it still runs', () => {
    expect(self.pid).toBe(process.pid);
    expect(self.host).not.toBe('');
    expect(systemLiveness.isAlive(self)).toBe(true);
  });

  it('is not its pid alone: that may have been given to another one', () => {
    const later = { ...self, startedAt: `${self.startedAt}1` };
    // Where the system does not say when a process began, it counts as alive.
    expect(systemLiveness.isAlive(later)).toBe(self.startedAt === '');
    expect(systemLiveness.isAlive({ ...self, startedAt: '' })).toBe(true);
    expect(systemLiveness.isAlive({ ...self, pid: 2 ** 22 + 1 })).toBe(false);
  });
});
