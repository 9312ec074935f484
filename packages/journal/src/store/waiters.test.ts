import { expect, test } from 'vitest';
import type { Operation } from '../operation.js';
import { waiters, waitFor } from './waiters.js';

const operation = (state: Operation['state']) => ({ id: 'op', state, owner: 'alice' }) as Operation;

test('a change between reading and waiting is not missed', async () => {
  const waiting = waiters();
  let state: Operation['state'] = 'sending';
  const seen = waitFor(
    'op',
    new AbortController().signal,
    async () => {
      const now = operation(state);
      // The operation ends directly after the read.
      if (state === 'sending') {
        state = 'succeeded';
        waiting.wake('ended', 'op');
      }
      return now;
    },
    waiting,
  );
  expect(await seen).toMatchObject({ state: 'succeeded' });
});

test('no subscription is left behind, however a wait ends', async () => {
  const waiting = waiters();
  const { signal } = new AbortController();
  const failing = waitFor('op', signal, () => Promise.reject(new Error('gone')), waiting);
  await expect(failing).rejects.toThrow('gone');
  await waitFor('op', signal, async () => operation('succeeded'), waiting);
  await waitFor('op', AbortSignal.abort(), async () => operation('sending'), waiting);
  expect(waiting.size()).toBe(0);
});
