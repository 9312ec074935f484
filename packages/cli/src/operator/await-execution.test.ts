import type { Operation } from '@toolkeel/journal';
import { expect, it } from 'vitest';
import { awaitExecution } from './await-execution.js';

type Seen = Partial<Pick<Operation, 'state' | 'outcome' | 'owner' | 'code' | 'approval'>>;

/** A store that returns these states in turn, then repeats the last one, in virtual time. */
function showing(states: readonly Seen[], live: boolean | ((now: number) => boolean) = true) {
  let now = 0;
  let index = 0;
  const looks: number[] = [];
  const store = {
    get: (): Promise<Operation> => {
      looks.push(now);
      const seen = states[Math.min(index, states.length - 1)];
      index += 1;
      return Promise.resolve({ tool: 'post', ...seen } as Operation);
    },
    hasLiveOwner: () => Promise.resolve(typeof live === 'function' ? live(now) : live),
  };
  const clock = {
    now: () => now,
    pause: (ms: number) => {
      now += ms;
      return Promise.resolve();
    },
  };
  const ended = (waitMs = 15_000) => awaitExecution(store, 'op_1', { waitMs, clock });
  return { ended, looks, now: () => now };
}

const approved = { state: 'awaiting_approval', code: 'approval_required' } as const;
const claimed = { state: 'claimed', owner: 'own_1' } as const;

it.each<[string, Seen, string]>([
  ['succeeded', { state: 'succeeded' }, 'executed'],
  ['rejected', { state: 'rejected' }, 'failed'],
  ['released', { state: 'released' }, 'failed'],
  ['expired', { state: 'expired' }, 'failed'],
  ['unknown', { state: 'unknown', owner: 'own_1' }, 'unknown'],
  ['reconciled as executed', { state: 'reconciled', outcome: 'executed' }, 'executed'],
  ['reconciled as not executed', { state: 'reconciled', outcome: 'not_executed' }, 'failed'],
  ['stopped between two steps', { state: 'claimed' }, 'failed'],
])('waits until the operation is %s', async (_, end, state) => {
  const { ended, looks } = showing([approved, approved, claimed, { state: 'sending' }, end]);
  expect(await ended()).toEqual({ state, live: true });
  expect(looks).toHaveLength(5);
});

it('does not wait without a live server that has the tool', async () => {
  const { ended, now } = showing([approved], false);
  expect(await ended()).toEqual({ state: 'pending', live: false });
  expect(now()).toBe(0);
});

it('does not wait for an operation that is scheduled for later', async () => {
  const approval = { scheduledFor: Number.MAX_SAFE_INTEGER } as Operation['approval'];
  const { ended, now } = showing([{ ...approved, ...(approval && { approval }) }]);
  expect(await ended()).toEqual({ state: 'pending', live: true });
  expect(now()).toBe(0);
});

it('stops waiting when the last server with the tool stops', async () => {
  const { ended, now } = showing([approved], (at) => at < 1000);
  expect(await ended()).toEqual({ state: 'pending', live: false });
  expect(now()).toBe(1000);
});

it('does not wait for a second attempt', async () => {
  const { ended, now } = showing([{ state: 'awaiting_approval', code: 'unauthorized' }]);
  expect(await ended()).toEqual({ state: 'not_executed', live: true });
  expect(now()).toBe(0);
});

it.each([0, 300, 15_000])('waits at most %i ms', async (waitMs) => {
  const { ended, now } = showing([approved]);
  expect(await ended(waitMs)).toEqual({ state: 'pending', live: true });
  expect(now()).toBe(waitMs);
});
