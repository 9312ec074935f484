import { type Effect, type Fault, FaultError, type FaultKind } from '../fault.js';
import { breaker } from '../layers/breaker.js';
import { budget } from '../layers/budget.js';
import { bulkhead } from '../layers/bulkhead.js';
import { attemptTimeout, deadline, idle, retry } from '../layers/retry-and-timeouts.js';
import { counters } from '../layers/observe.js';
import { hedge } from '../layers/hedge.js';
import { limitGate } from '../layers/limit-gate.js';
import { refreshAuth } from '../layers/refresh-auth.js';
import { fault, seededRandom, VirtualClock } from '../testing/index.js';
import { health } from '../layers/health.js';
import type { AttemptContext } from './attempt.js';
import type { Layer } from './layer.js';
import { compose } from './pipeline.js';

const CALLS = 60;
const kinds: readonly FaultKind[] = [
  'connect',
  'network',
  'server',
  'rate_limited',
  'auth',
  'rejected',
  'bad_response',
];

interface Seen {
  readonly begunAt: number;
  readonly endsBy: number;
  settledAt?: number;
  readonly sent: Fault['sent'][];
}

/**
 * Runs a random composition with random upstream behaviour, deadlines and aborts in virtual time.
 * Returns the violated invariants.
 */
export async function storm(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const chance = (share: number): boolean => random() < share;
  const upTo = (ms: number): number => Math.floor(random() * ms);
  const clock = new VirtualClock({ epoch: 1_700_000_000_000 });
  const effect: Effect = (['read', 'idempotent', 'once'] as const)[upTo(3)]!;
  const maxRetries = upTo(4);
  const callMs = 200 + upTo(3000);

  const doors = bulkhead({ limit: 1 + upTo(20), queue: upTo(40) });
  const counts = counters();
  const maybe = (layer: () => Layer): Layer[] => (chance(0.5) ? [layer()] : []);
  const layers: Layer[] = [
    retry({ maxRetries, initialBackoffMs: upTo(50), maxBackoffMs: 500, jitter: 'full' }),
    deadline(callMs),
    counts,
    ...maybe(() => doors),
    ...maybe(() => attemptTimeout(50 + upTo(150))),
    ...maybe(() => idle(50 + upTo(150))),
    ...maybe(() => breaker({ minimumAttempts: 5, openAfterMs: 0, openMs: 200, maxOpenMs: 800 })),
    ...maybe(() => budget({ capacity: 10 })),
    ...maybe(() => limitGate()),
    ...maybe(() => refreshAuth(() => chance(0.7))),
    ...(effect === 'read' && chance(0.5) ? [hedge({ minSamples: 3, quantile: 0.5 })] : []),
    health(),
  ];

  const seen = new Map<number, Seen>();
  const wrong: string[] = [];

  const work = (n: number, attempt: AttemptContext): Promise<number> => {
    const { sent } = seen.get(n)!;
    if (attempt.index !== sent.length)
      wrong.push(`call ${n}: attempt ${attempt.index} out of order`);
    sent.push('maybe');
    if (chance(0.02)) throw new TypeError('a bug in the callee');
    return new Promise((resolve, reject) => {
      const takes = upTo(120);
      const behaviour = random();
      if (behaviour < 0.1) return; // never answers, never listens
      if (behaviour < 0.2)
        attempt.signal.addEventListener('abort', () => reject(attempt.signal.reason));
      else if (behaviour < 0.55) {
        const failure = fault(
          kinds[upTo(kinds.length)]!,
          chance(0.2) ? { retryAfterMs: upTo(300) } : {},
        );
        sent[attempt.index] = failure.sent;
        clock.setTimer(takes, () => reject(new FaultError(failure)));
      } else clock.setTimer(takes, () => resolve(n));
    });
  };

  const guarded = compose(layers, { effect, clock, random }).wrap(work);
  const callers = Array.from({ length: CALLS }, async (_, n) => {
    await new Promise<void>((resolve) => clock.setTimer(upTo(2000), resolve));
    const begunAt = clock.now();
    const timeoutMs = chance(0.3) ? upTo(400) : callMs;
    const record: Seen = { begunAt, endsBy: begunAt + Math.min(timeoutMs, callMs), sent: [] };
    seen.set(n, record);
    const caller = new AbortController();
    if (chance(0.2)) clock.setTimer(upTo(300), () => caller.abort(n));
    const outcome = await guarded.outcome(n, { timeoutMs, signal: caller.signal });
    record.settledAt = clock.now();
    if (record.sent.length > 1 + maxRetries)
      wrong.push(`call ${n}: ${record.sent.length} attempts`);
    if (record.settledAt > record.endsBy + 1)
      wrong.push(`call ${n}: late by ${record.settledAt - record.endsBy} ms`);
    if (outcome.ok && outcome.value !== n) wrong.push(`call ${n}: another call's result`);
    if (!outcome.ok && outcome.fault.kind === 'cancelled' && outcome.fault.cause !== n) {
      wrong.push(`call ${n}: another call's abort`);
    }
    if (
      !outcome.ok &&
      outcome.fault.sent === 'no' &&
      record.sent.some((sent) => sent === 'maybe')
    ) {
      wrong.push(`call ${n}: says it was not sent`);
    }
  });

  await clock.run(Promise.all(callers));
  await clock.drain();
  if (clock.pending > 0) wrong.push(`${clock.pending} timers left`);
  if (doors.inFlight + doors.queued > 0) wrong.push('bulkhead slots leaked');
  if (counts.calls !== CALLS) wrong.push(`${counts.calls} of ${CALLS} calls counted`);
  return wrong;
}
