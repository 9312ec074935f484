import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Listing } from './listing.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A listing of a server; the test answers. */
const open = (onAsked: (answer: (tools: readonly object[]) => void) => void = () => {}) => {
  const asked: (() => void)[] = [];
  const names: string[] = [];
  const seen = { asked, names, told: 0 };
  const listing = new Listing({
    ask: () =>
      new Promise((resolve) => {
        const answer = (tools: readonly object[] = [{ name: 'get' }]): void =>
          resolve({ message: { jsonrpc: '2.0', id: 1, result: { tools } } });
        asked.push(answer);
        onAsked(answer);
      }),
    hasTools: () => Promise.resolve(true),
    onTools: (tools) => {
      names.splice(0, Infinity, ...tools.map(({ name }) => name));
      return Promise.resolve();
    },
    onChanged: () => {},
  });
  const changed = (): void => listing.changed(undefined, () => void seen.told++);
  return { listing, seen, changed };
};

it('lists the tools of a server that reports a change after each listing ever more slowly', async () => {
  let isStorm = true;
  const { listing, seen, changed } = open((answer) => {
    answer([{ name: 'get' }]);
    if (isStorm) setTimeout(changed, 0);
  });
  void listing.fetch();
  await pass(3000);
  expect(seen.asked).toHaveLength(5);
  expect(seen.told).toBe(4);
  await pass(3_600_000);
  expect(seen.asked.length).toBeLessThan(135);
  expect(seen.told).toBe(seen.asked.length - 1);
  isStorm = false;
  await pass(100_000);
  const before = seen.asked.length;
  changed();
  await pass(0);
  expect(seen.asked).toHaveLength(before + 1);
});

it('has one listing in flight, and combines the changes that are reported meanwhile', async () => {
  const { listing, seen, changed } = open();
  const hundredTimes = (): void => Array.from({ length: 100 }).forEach(changed);
  void listing.fetch();
  await pass(0);
  hundredTimes();
  await pass(60_000);
  expect(seen).toMatchObject({ asked: { length: 1 }, told: 0 });
  seen.asked[0]?.();
  await pass(0);
  expect(seen).toMatchObject({ asked: { length: 2 }, told: 1 });
  hundredTimes();
  seen.asked[1]?.();
  await pass(240);
  expect(seen).toMatchObject({ asked: { length: 2 }, told: 1 });
  await pass(20);
  expect(seen).toMatchObject({ asked: { length: 3 }, told: 2 });
  seen.asked[2]?.();
  await pass(600_000);
  expect(seen).toMatchObject({ asked: { length: 3 }, told: 2 });
});

it('tells each subscription of a combined change', async () => {
  const { listing, seen } = open();
  const told: unknown[] = [];
  void listing.fetch();
  await pass(0);
  for (const id of ['a', 'b', 'a']) listing.changed(id, () => told.push(id));
  seen.asked[0]?.();
  await pass(0);
  expect(told).toEqual(['a', 'b']);
});

it('forgets changes with the server that reported them', async () => {
  const { listing, seen, changed } = open();
  void listing.fetch();
  await pass(0);
  changed();
  listing.lose();
  seen.asked[0]?.();
  await pass(60_000);
  expect(seen).toMatchObject({ asked: { length: 1 }, told: 0 });
});
