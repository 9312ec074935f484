import { presets } from '@toolkeel/kernel';
import { ATTEMPT_TIMEOUT_MS } from '../arms/rivals.js';
import { PER_SECOND } from '../plan/cells.js';
import { duration } from './format.js';

/** What is simulated. */
export const model = `- **The kernel is the real one**: \`guard\` with the \`stac\` preset on a virtual clock with a seeded random source. The median that scales the jitter is the one it observes itself, from a cold start; nobody tells it the true one.
- **The upstream** answers after a lognormal time (σ 0.5) with the p95 that the column names. Each request that arrives fails with a probability of 20 %, independently. A fault takes 0.1× the time of the answer it replaces (*fast*), half, or the *same*; *mix*: one fault in five sends no byte until somebody's clock ends it, the other four are fast.
- **Calls** come at random times, ${PER_SECOND} a second whatever the baseline, so that between 0.2 (5 ms) and 100 (2 s) are under way at a time. The upstream has no queue: more load does not make it slower, which flatters hedging. Closed loops of 8 and 64 callers, 2 and 2000 calls a second are among the other circumstances.
- **Every policy meets the same luck.** Latency and fault of request *m* of call *n* are a hash of the seed, *n* and *m*.
- **p95** is that of *all* calls, failed ones included, against that of the same calls without faults. The baseline is the same for all policies, hedged ones too.
- **Rivals** are their default policies in the same loop; a test plays six scripts through each real package on fake timers and through its model, and compares every request's time. All cut an attempt off after ${duration(ATTEMPT_TIMEOUT_MS)} as our preset does (their own: none, 300 s, 10 s). undici and ky do not try again after a timeout.
- **Load** is what the upstream counted: requests for each call.
- **Not shown**: a machine under load, timers of whole milliseconds, sockets. On a real server at 5 ms these cost more than any policy.`;

/** The numbers that were chosen here. */
export function shippedNumbers(): string {
  const { medianScale, budget, breaker } = presets.stac;
  return `\`${JSON.stringify({ medianScale, budget, breaker })}\``;
}
