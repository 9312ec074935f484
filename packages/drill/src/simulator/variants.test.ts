import ky from 'ky';
import pRetry from 'p-retry';
import { Dispatcher, errors, request, RetryAgent } from 'undici';
import { FaultError } from '@toolkeel/kernel';
import { fault, VirtualClock } from '@toolkeel/kernel/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ATTEMPT_TIMEOUT_MS,
  referenceVariant,
  referencePolicies,
  type ReferencePolicy,
} from './variants.js';

/** The upstream's behaviour for each request: fails or answers after 20 ms, or never answers. */
type Script = readonly ('fails' | 'answers' | 'hangs')[];
/** The time of each request, and the end of the call. */
interface Course {
  readonly requestsAt: readonly number[];
  readonly endedAt: number;
  readonly ok: boolean;
}

const LATENCY_MS = 20;
const scripts: Record<string, Script> = {
  'an answer': ['answers'],
  'one fault': ['fails', 'answers'],
  'two faults': ['fails', 'fails', 'answers'],
  'endless faults': Array<'fails'>(20).fill('fails'),
  'a timeout': ['hangs', 'answers'],
  'a timeout after a fault': ['fails', 'hangs', 'answers'],
};

async function modelled(model: ReferencePolicy, script: Script): Promise<Course> {
  const clock = new VirtualClock();
  const requestsAt: number[] = [];
  const settle = (afterMs: number, how: () => void): void => void clock.setTimer(afterMs, how);
  const handle = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const step = script[requestsAt.push(clock.now()) - 1];
      if (step === 'answers') settle(LATENCY_MS, () => resolve(1));
      else if (step === 'fails') settle(LATENCY_MS, () => reject(new FaultError(fault('server'))));
    });
  const cut = fault('timeout', { clock: 'attempt', final: true });
  const handleWithin = (timeoutMs: number) => (): Promise<number> =>
    new Promise((resolve, reject) => {
      settle(timeoutMs, () => reject(new FaultError(cut)));
      handle().then(resolve, reject);
    });
  const context = { clock, upstream: { handle, handleWithin }, seed: 1, onCircuit: undefined };
  const { ok } = await clock.run(referenceVariant(model).build(context).outcome(0));
  return { requestsAt, endedAt: clock.now(), ok };
}

/** Longer than every script. */
const LIMIT_MS = 3_600_000;

/**
 * Runs the real package on fake timers until its call has ended. Running all timers might never end, because other
 * code in this process may reschedule its timer. `send` makes one call and asks `next` how each request behaves.
 */
async function real(
  script: Script,
  send: (next: () => Script[number]) => Promise<unknown>,
): Promise<Course> {
  const start = Date.now();
  const requestsAt: number[] = [];
  const next = (): Script[number] => script[requestsAt.push(Date.now() - start) - 1] ?? 'fails';
  const ends: Pick<Course, 'endedAt' | 'ok'>[] = [];
  const over = (ok: boolean) => (): void => void ends.push({ endedAt: Date.now() - start, ok });
  void send(next).then(over(true), over(false));
  while (ends.length === 0 && Date.now() - start < LIMIT_MS)
    await vi.advanceTimersToNextTimerAsync();
  const [end] = ends;
  if (end === undefined) throw new Error('the call never ended');
  return { requestsAt, ...end };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const packages: Record<'pRetry' | 'ky' | 'undici', (script: Script) => Promise<Course>> = {
  // p-retry has no timeout of its own: the attempt's timeout is the caller's, and an ordinary error.
  pRetry: (script) =>
    real(script, (next) =>
      pRetry(async () => {
        const step = next();
        await wait(step === 'hangs' ? ATTEMPT_TIMEOUT_MS : LATENCY_MS);
        if (step !== 'answers') throw new Error(step);
      }),
    ),
  ky: (script) =>
    real(script, (next) => {
      const fetch = async (): Promise<Response> => {
        const step = next();
        await wait(step === 'hangs' ? 10 * ATTEMPT_TIMEOUT_MS : LATENCY_MS);
        return new Response('', { status: step === 'answers' ? 200 : 503 });
      };
      return ky('http://upstream.test/', { fetch, timeout: ATTEMPT_TIMEOUT_MS });
    }),
  undici: (script) =>
    real(script, async (next) => {
      await request('http://upstream.test/', { dispatcher: new RetryAgent(new Scripted(next)) });
    }),
};

/** Replaces undici's client, and like it reports exceptions of the handler to the handler. */
class Scripted extends Dispatcher {
  readonly #next: () => Script[number];

  constructor(next: () => Script[number]) {
    super();
    this.#next = next;
  }

  override dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const step = this.#next();
    handler.onRequestStart?.(controller, {});
    const fail = (error: unknown): void => handler.onResponseError?.(controller, error as Error);
    const answer = (): void => {
      try {
        handler.onResponseStart?.(controller, step === 'answers' ? 200 : 503, {}, '');
        handler.onResponseEnd?.(controller, {});
      } catch (error) {
        fail(error);
      }
    };
    if (step !== 'hangs') setTimeout(answer, LATENCY_MS);
    else setTimeout(() => fail(new errors.HeadersTimeoutError()), ATTEMPT_TIMEOUT_MS);
    return true;
  }
}

const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
};

describe('the reference policies', () => {
  beforeEach(() => {
    // The virtual clock of the models depends on the real event loop.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  for (const [name, play] of Object.entries(packages)) {
    const model = referencePolicies[name as keyof typeof packages];
    test.for(Object.keys(scripts))(`${model.title} matches its package on %s`, async (title) => {
      const script = scripts[title]!;
      expect(await play(script)).toEqual(await modelled(model, script));
    });
  }

  test('the fixed caps are 0.4 and 0.8 s', async () => {
    const { requestsAt, ok } = await modelled(referencePolicies.seed, scripts['endless faults']!);
    expect(ok).toBe(false);
    expect(requestsAt).toHaveLength(3);
    expect(requestsAt[1]! - LATENCY_MS).toBeLessThanOrEqual(400);
    expect(requestsAt[2]! - requestsAt[1]! - LATENCY_MS).toBeLessThanOrEqual(800);
  });

  test('the floor retries immediately', async () => {
    const course = await modelled(referencePolicies.floor, scripts['endless faults']!);
    expect(course.requestsAt).toEqual([0, LATENCY_MS, 2 * LATENCY_MS]);
  });
});
