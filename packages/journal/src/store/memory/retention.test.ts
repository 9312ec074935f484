import { expect, test } from 'vitest';
import { verifyAudit } from '../../audit/reports.js';
import {
  byContent,
  byTemplate,
  claimed,
  DAY,
  owner,
  release,
  request,
  settled,
  success,
} from '../contract/harness.fixture.js';
import { retentionQueue } from './operations.js';
import { memoryStore } from './store.js';

test('settled operations are deleted, in-flight and held ones stay', async () => {
  const store = memoryStore({ operations: 10 });
  await store.registerOwner(owner(), DAY);
  const waiting = await claimed(store, { dedupKey: byContent('waiting') });
  const held = await settled(store, { dedupKey: byContent('held') }, success({ holdMs: DAY }));
  for (let i = 0; i < 200; i++) await settled(store, { dedupKey: byContent(`${i}`) }, release());
  expect((await store.list({ limit: 1000 })).length).toBeLessThanOrEqual(21);
  expect(await store.get(waiting.id)).toEqual(waiting);
  expect(await store.get(held.id)).toEqual(held);
});

test('an operation held only by its explicit key stays', async () => {
  const store = memoryStore({ operations: 10 });
  await store.registerOwner(owner(), DAY);
  const named = { dedupKey: byTemplate(), key: 'key-aaaaaaaaaaaaaaaa' };
  const { id } = await settled(store, named, success({ holdMs: 0, keyHoldMs: DAY }));
  for (let i = 0; i < 200; i++) await settled(store, { dedupKey: byContent(`${i}`) }, release());
  expect((await store.claim(request(named))).operation.id).toBe(id);
});

test('held operations stay even above the limit', async () => {
  const store = memoryStore({ operations: 5 });
  await store.registerOwner(owner(), DAY);
  for (let i = 0; i < 50; i++) await settled(store, { dedupKey: byContent(`${i}`) });
  expect(await store.list({ limit: 1000, holdsDedupKey: true })).toHaveLength(50);
});

test('executed operations stay for the window after their delivery, or undelivered for the whole hold', async () => {
  let now = 1000;
  const store = memoryStore({ operations: 5, now: () => now });
  await store.registerOwner(owner(), DAY);
  const executed = success({ content: { holdMs: 10_000, windowMs: 100 } });
  const ids: string[] = [];
  for (let i = 0; i < 50; i++) {
    const { id } = await settled(store, { dedupKey: byContent(`executed ${i}`) }, executed);
    ids.push(id);
  }
  const undelivered = ids.filter((_, index) => index % 2 === 0);
  const delivered = ids.filter((id) => !undelivered.includes(id));
  await store.markDelivered(delivered.map((id) => ({ id, agoMs: 0 })));
  const kept = async (wanted: readonly string[]) => {
    for (let i = 0; i < 50; i++)
      await settled(store, { dedupKey: byContent(`later ${i} at ${now}`) }, release());
    const all = await store.list({ limit: 1000 });
    return all.filter(({ id }) => wanted.includes(id)).length;
  };
  expect(await kept(ids)).toBe(50);
  now += 100;
  expect(await kept(delivered)).toBe(0);
  expect(await kept(undelivered)).toBe(25);
  now += 10_000;
  expect(await kept(undelivered)).toBe(0);
});

test('a pruned operation does not remove the dedup key of a later holder', async () => {
  let now = 1000;
  const store = memoryStore({ operations: 5, now: () => now });
  await store.registerOwner(owner(), DAY);
  await settled(store, { dedupKey: byContent('again') }, success({ holdMs: 100 }));
  now += 200;
  expect(await store.prune(now)).toBe(1);
  const next = await settled(store, { dedupKey: byContent('again') }, success({ holdMs: DAY }));
  for (let i = 0; i < 50; i++) await settled(store, { dedupKey: byContent(`${i}`) }, release());
  const [holder] = await store.list({ dedupKey: byContent('again'), holdsDedupKey: true });
  expect(holder).toEqual(next);
  const repeat = await store.claim(request({ dedupKey: byContent('again') }));
  expect(repeat).toMatchObject({ kind: 'held', operation: { id: next.id } });
});

test('the audit keeps its newest rows in one chain with the head that was read before', async () => {
  const store = memoryStore();
  const write = async (times: number) => {
    for (let i = 0; i < times; i++) await store.audit({ kind: 'x', actor: 'ann' });
  };
  await write(2500);
  const seen = await store.auditHead();
  expect(seen!.seq).toBe(2500);
  await write(3000);
  const rows = await store.auditRows(1, 10_000);
  expect(rows).toHaveLength(1000);
  expect(rows.at(-1)!.seq).toBe(5500);
  const { problems } = await verifyAudit(rows);
  // The deleted start of the chain is the only problem.
  expect(problems.map(({ kind }) => kind)).toEqual(['missing']);
});

test('the retention queue returns those first whose holds ended first, and keeps the newest', () => {
  const queue = retentionQueue<string>(2);
  queue.add('a', 30, 130);
  queue.add('b', 0, 0);
  queue.add('c', 30, 140);
  queue.add('d', 1000, 1100);
  expect(queue.take(129)).toEqual([]);
  queue.add('e', 0, 0);
  queue.add('f', 30, 150);
  expect(queue.take(140)).toEqual(['b', 'a']);
  expect(queue.take(149)).toEqual([]);
  expect(queue.take(150)).toEqual(['c']);
  expect(queue.take(5000)).toEqual(['e']);
});

test('the retention queue returns each item once', () => {
  const queue = retentionQueue<string>(0);
  for (let i = 0; i < 100; i++) queue.add(`${i}`, i % 3, i + (i % 3));
  const taken: string[] = [];
  for (let now = 0; now < 120; now++) taken.push(...queue.take(now));
  expect(new Set(taken).size).toBe(100);
  expect(taken).toHaveLength(100);
});
