// 100,000 calls of every kind, in a process of its own, so that every timer in it is ours.
// Prints what was there before and what is there after.
import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import {
  attemptTimeout,
  breaker,
  budget,
  bulkhead,
  compose,
  counters,
  deadline,
  FaultError,
  health,
  hedge,
  idle,
  retry,
} from '../dist/index.js';

const server = { kind: 'server', sent: 'answered', status: 503 };
const fail = () => Promise.reject(new FaultError(server));
const never = () => new Promise(() => {});
const counts = counters();

function everything(work, callMs, backoffMs) {
  const layers = [
    retry({ maxRetries: 1, initialBackoffMs: backoffMs }),
    deadline(callMs),
    attemptTimeout(callMs),
    idle(callMs),
    bulkhead({ limit: 400, queue: 600 }),
    breaker({ minimumAttempts: 1e9 }),
    budget({ capacity: 1e9 }),
    health(),
    hedge({ minSamples: 5 }),
    counts,
  ];
  return compose(layers, { effect: 'read' }).wrap(work);
}

const kinds = {
  succeeds: everything(async () => 'ok', 15_000, 0),
  readsItsSignal: everything(async (_, { signal }) => signal.aborted, 15_000, 0),
  failsAtFirst: everything((_, { index }) => (index === 0 ? fail() : 'ok'), 15_000, 0),
  alwaysFails: everything(fail, 15_000, 0),
  neverSettles: everything(never, 10, 0),
  abortedInBackoff: everything(fail, 300_000, 60_000),
  abortedInQueue: everything(never, 300_000, 0),
};

let listeners = 0;

async function rounds(kind, howMany) {
  const guarded = kinds[kind];
  for (let n = 0; n < howMany; n++) {
    const caller = new AbortController();
    const calls = Array.from({ length: 1000 }, () => guarded.outcome(n, { signal: caller.signal }));
    if (kind.startsWith('aborted')) {
      await new Promise((resolve) => setImmediate(resolve));
      caller.abort('enough');
    }
    await Promise.all(calls);
    listeners += getEventListeners(caller.signal, 'abort').length;
  }
}

const what = async () => {
  // The alarms' own timer outlives the last call by one tick.
  await sleep(120);
  globalThis.gc();
  return {
    timers: process.getActiveResourcesInfo().filter((name) => /Timeout|Immediate/.test(name))
      .length,
    promises: queryObjects(Promise, { format: 'count' }),
  };
};

for (const kind of Object.keys(kinds)) await rounds(kind, 1);
const before = await what();
counts.calls = 0;
await rounds('succeeds', 40);
await rounds('readsItsSignal', 10);
await rounds('failsAtFirst', 20);
await rounds('alwaysFails', 10);
await rounds('neverSettles', 10);
await rounds('abortedInBackoff', 5);
await rounds('abortedInQueue', 5);
const { calls } = counts;
console.log(JSON.stringify({ calls, listeners, before, after: await what() }));
