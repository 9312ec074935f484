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
import { memoryStore } from './store.js';

test('what is over makes room, what holds a slot or is under way stays', async () => {
  const store = memoryStore({ operations: 10 });
  await store.registerOwner(owner(), DAY);
  const waiting = await claimed(store, { dedupKey: byContent('waiting') });
  const held = await settled(store, { dedupKey: byContent('held') }, success({ holdMs: DAY }));
  for (let i = 0; i < 200; i++) await settled(store, { dedupKey: byContent(`${i}`) }, release());
  expect((await store.list({ limit: 1000 })).length).toBeLessThanOrEqual(21);
  expect(await store.get(waiting.id)).toEqual(waiting);
  expect(await store.get(held.id)).toEqual(held);
});

test('what is known by its key alone stays as well', async () => {
  const store = memoryStore({ operations: 10 });
  await store.registerOwner(owner(), DAY);
  const named = { dedupKey: byTemplate(), key: 'key-aaaaaaaaaaaaaaaa' };
  const { id } = await settled(store, named, success({ holdMs: 0, keyHoldMs: DAY }));
  for (let i = 0; i < 200; i++) await settled(store, { dedupKey: byContent(`${i}`) }, release());
  expect((await store.claim(request(named))).operation.id).toBe(id);
});

test('more holders than are kept are all kept', async () => {
  const store = memoryStore({ operations: 5 });
  await store.registerOwner(owner(), DAY);
  for (let i = 0; i < 50; i++) await settled(store, { dedupKey: byContent(`${i}`) });
  expect(await store.list({ limit: 1000, holdsDedupKey: true })).toHaveLength(50);
});

test('what was pruned takes the slot from nobody when its turn to leave comes', async () => {
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

test('the audit keeps its newest rows, as one chain with the head that was shown before', async () => {
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
  // Only that the chain does not begin at its beginning.
  expect(problems.map(({ kind }) => kind)).toEqual(['missing']);
});
