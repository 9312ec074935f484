import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { waiters } from '../waiters.js';
import { pollForEnded } from './poll.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const setUp = () => {
  const waiting = waiters();
  const state = { version: 1, over: [] as string[], asked: 0 };
  const poller = pollForEnded(
    {
      version: () => state.version,
      ended: (ids) => {
        state.asked += 1;
        return ids.filter((id) => state.over.includes(id));
      },
    },
    waiting,
  );
  const told: string[] = [];
  const wait = (id: string): void => {
    poller.start();
    void waiting.next(id, new AbortController().signal).woken.then(() => told.push(id));
  };
  return { state, told, wait, poller };
};

test('wakes only the callers whose operation another process has ended', async () => {
  const { state, told, wait } = setUp();
  wait('a');
  wait('b');
  await vi.advanceTimersByTimeAsync(50);
  expect(told).toEqual([]);
  Object.assign(state, { version: 2, over: ['b'] });
  await vi.advanceTimersByTimeAsync(100);
  expect(told).toEqual(['b']);
});

test('reads operations only after another process has written', async () => {
  const { state, wait } = setUp();
  wait('a');
  await vi.advanceTimersByTimeAsync(1000);
  const before = state.asked;
  await vi.advanceTimersByTimeAsync(1000);
  expect(state.asked).toBe(before);
  state.version = 2;
  await vi.advanceTimersByTimeAsync(101);
  expect(state.asked).toBe(before + 1);
});

test('a new waiter does not wait for the long interval of earlier ones', async () => {
  const { state, told, wait } = setUp();
  wait('a');
  await vi.advanceTimersByTimeAsync(1000);
  wait('b');
  Object.assign(state, { version: 2, over: ['b'] });
  await vi.advanceTimersByTimeAsync(3);
  expect(told).toEqual(['b']);
});

test('a failing database wakes the waiting callers, which get the error', async () => {
  const { state, told, wait } = setUp();
  wait('a');
  Object.defineProperty(state, 'version', {
    get: () => {
      throw new Error('the disk is gone');
    },
  });
  await vi.advanceTimersByTimeAsync(10);
  expect(told).toEqual(['a']);
});

test('many waiters do not turn a slow poll into a permanent load', async () => {
  const { state, wait } = setUp();
  let looks = 0;
  Object.defineProperty(state, 'version', {
    get: () => {
      looks += 1;
      vi.advanceTimersByTime(5);
      return looks;
    },
  });
  for (let i = 0; i < 100; i++) {
    wait(`op${i}`);
    await vi.advanceTimersByTimeAsync(2);
  }
  expect(looks).toBeLessThan(12);
});
