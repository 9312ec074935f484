import { setImmediate as breath } from 'node:timers/promises';
import { seededRandom } from '@toolkeel/kernel/testing';
import { expect, test } from 'vitest';
import { readAudit, verifyAudit } from '../../audit/reports.js';
import type { JournalStore } from '../store.js';
import {
  byContent,
  DAY,
  owner,
  plain,
  release,
  request,
  success,
  unknown,
  type OpenBench,
} from './harness.fixture.js';

const KEYS = ['a', 'b', 'c', 'd'];
const WORKERS = 6;

/** Workers on several connections that concurrently claim, send, settle, die and restart. */
export function stormContract(kind: string, open: OpenBench, turns: number): void {
  test(`no interleaving of the ${kind} store executes an operation twice`, async () => {
    const bench = await open();
    const random = seededRandom(42);
    const stores = [bench.store, await bench.another(), await bench.another()];
    const sent = new Map<string, string[]>();

    const turn = async (store: JournalStore, name: string): Promise<void> => {
      const key = KEYS[Math.floor(random() * KEYS.length)]!;
      const claim = await store.claim(request({ owner: name, dedupKey: byContent(key) }));
      if (claim.kind === 'held') return;
      const { id, fence } = claim.operation;
      const mine = { id, owner: name, fence };
      const luck = random();
      if (luck < 0.3) return die(store, name);
      if ((await store.send(mine, plain)).kind !== 'sent') return;
      if (luck < 0.6) {
        // Not executed, so the dedup key is released.
        await store.settle(mine, release());
        return;
      }
      sent.set(key, [...(sent.get(key) ?? []), id]);
      if (luck < 0.7) return die(store, name);
      await store.settle(mine, luck < 0.8 ? unknown() : success({ holdMs: DAY }));
    };
    const worker = async (index: number): Promise<void> => {
      const store = stores[index % stores.length]!;
      const name = `worker-${index}`;
      await store.registerOwner(owner(name), DAY);
      for (let i = 0; i < turns || sent.size < KEYS.length; i++) {
        await turn(store, name);
        if (random() < 0.2) await store.sweep();
        // Each call starts in its own turn of the event loop.
        await breath();
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(index)));

    // Every send is recorded and belongs to a single operation of its key.
    expect([...sent.keys()].toSorted()).toEqual(KEYS);
    for (const [, ids] of sent) expect(ids).toHaveLength(1);
    const left = await bench.store.list({ states: ['claimed', 'sending'] });
    expect(left).toEqual([]);
    expect((await verifyAudit(readAudit(bench.store))).problems).toEqual([]);
    await bench.close();
  });
}

async function die(store: JournalStore, name: string): Promise<void> {
  await store.evictOwner(name);
  await store.registerOwner(owner(name), DAY);
}
