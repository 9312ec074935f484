import type {
  TextContext,
  TextEvent,
  TextModel,
  TextModelHealth,
  TextRequest,
  TextStreamContext,
} from '@toolkeel/contract';
import { budget, definePolicy, type BudgetOptions, type Layer } from '@toolkeel/kernel';
import { Channel, type ModelOptions } from './channel.js';
import { EventQueue } from './event-queue.js';
import type { ModelInfo, Provider } from './provider.js';
import { mayFallBack, Run, type Recovery, type RunOutcome, type Turn } from './run.js';

/** A model of this package: the contract's TextModel, and what only its owner needs. */
export interface Model extends TextModel {
  readonly channels: readonly Channel[];
  readonly models: () => Promise<readonly (ModelInfo & { readonly provider: string })[]>;
  /** Ends in-flight requests, child processes and connections. Later requests fail. */
  readonly close: () => Promise<void>;
}

export interface FallbackOptions {
  /** Retries of all models together. Default: a bucket of 10, refilled by half a retry per success. */
  readonly budget?: Partial<BudgetOptions>;
  /** A longer wait that a provider asks for is not waited for while another model is left. Default 10 s. */
  readonly maxWaitMs?: number;
  /** Of the whole request. Default: the longest of the models'. */
  readonly callTimeoutMs?: number;
}

const SHARED_BUDGET = { capacity: 10, perSuccess: 0.5, perSecond: 0.05 };
const MAX_WAIT_MS = 10_000;
const CALL_TIMEOUT_MS = 300_000;

export function createModel(provider: Provider, options: ModelOptions = {}): Model {
  const channel = new Channel(provider, options);
  return modelOf(provider.name, [channel], channel.policy.callTimeoutMs);
}

/**
 * Asks the models in order until one answers. Models that asked to wait or that lack quota or a login
 * are asked last, and a request that names a model goes to its provider only. All of them share one
 * deadline and one retry budget.
 *
 * @example
 * const model = fallback([claude(), gemini({ apiKey: { env: 'GEMINI_API_KEY' } })]);
 */
export function fallback(models: readonly Model[], options: FallbackOptions = {}): Model {
  const channels = models.flatMap((model) => model.channels);
  if (channels.length === 0) throw new RangeError('fallback needs at least one model');
  const longest = channels.map(({ policy }) => policy.callTimeoutMs ?? CALL_TIMEOUT_MS);
  const { callTimeoutMs = Math.max(...longest) } = options;
  const shared = budget({ ...SHARED_BUDGET, ...options.budget });
  const name = channels.map(({ provider }) => provider.name).join(' > ');
  return modelOf(name, channels, callTimeoutMs, [shared], options.maxWaitMs ?? MAX_WAIT_MS);
}

function modelOf(
  name: string,
  channels: readonly Channel[],
  callTimeoutMs = CALL_TIMEOUT_MS,
  layers: readonly Layer[] = [],
  maxWaitMs = MAX_WAIT_MS,
): Model {
  const run = (
    request: TextRequest,
    context: TextContext,
    recovery: Recovery,
    emit: (event: TextEvent) => void,
  ): Promise<RunOutcome> =>
    runChain(channels, request, { context, recovery, emit, callTimeoutMs, layers, maxWaitMs });

  return {
    name,
    channels,
    complete: async (request, context = {}) => {
      const outcome = await run(request, context, 'restart', () => undefined);
      if (outcome.ok) return outcome.completion;
      throw outcome.error;
    },
    stream: (request, context: TextStreamContext = {}) =>
      new EventQueue(context.signal, (emit, signal) => {
        const { recovery = 'error' } = context;
        void run(request, { ...context, signal }, recovery, emit).then((outcome) =>
          emit(
            outcome.ok
              ? { type: 'done', completion: outcome.completion }
              : { type: 'error', error: outcome.error },
          ),
        );
      }),
    health: (): Promise<readonly TextModelHealth[]> =>
      Promise.all(channels.map((channel) => channel.health())),
    models: async () => {
      const lists = await Promise.all(
        channels.map(async (channel) => {
          const list = await channel.models();
          return list.map((model) => ({ provider: channel.provider.name, ...model }));
        }),
      );
      return lists.flat();
    },
    close: async () => {
      await Promise.all(channels.map((channel) => channel.close()));
    },
  };
}

interface ChainOptions {
  readonly context: TextContext;
  readonly recovery: Recovery;
  readonly emit: (event: TextEvent) => void;
  readonly callTimeoutMs: number;
  readonly layers: readonly Layer[];
  readonly maxWaitMs: number;
}

async function runChain(
  channels: readonly Channel[],
  request: TextRequest,
  { context, recovery, emit, callTimeoutMs, layers, maxWaitMs }: ChainOptions,
): Promise<RunOutcome> {
  const [first] = channels;
  if (!first) throw new RangeError('a model needs a provider');
  const deadline = Math.min(context.deadline ?? Infinity, first.clock.now() + callTimeoutMs);
  const { signal, correlationId } = context;
  const run = new Run(request, { signal, deadline, correlationId, recovery, emit });
  // A request that is none fails in its attempt, as a typed error.
  const model = (request as TextRequest | undefined | null)?.model;
  const serving = channels.filter(({ provider }) => model === undefined || provider.serves(model));
  // A name that no provider knows may be a new one: then each of them decides.
  const order = (serving.length > 0 ? serving : channels).toSorted(
    (a, b) => a.cooldown.avoidedMs(a.clock.now()) - b.cooldown.avoidedMs(b.clock.now()),
  );
  // The first of them has the earliest reset: skipping it would mean a longer wait for another.
  const allHeld = order.every(({ cooldown, clock }) => cooldown.heldMs(clock.now()) > 0);
  for (const [index, channel] of order.entries()) {
    const hasBetter = index < order.length - 1 && !(allHeld && index === 0);
    const outcome = await run.ask(channel, turnOf(channel, hasBetter));
    if (outcome.ok || index === order.length - 1) return outcome;
    if (!mayFallBack(outcome.error) || !run.mayRetry) return outcome;
    run.noteFallback(outcome.error);
  }
  throw new Error('unreachable: the last model returns its outcome');

  /** A model that others can replace fails early instead of waiting long. */
  function turnOf({ policy }: Channel, hasBetter: boolean): Turn {
    const { rateLimit } = policy;
    const shortens = hasBetter && rateLimit.onLimit === 'wait' && rateLimit.maxWaitMs > maxWaitMs;
    const impatient = shortens
      ? definePolicy({ ...policy, rateLimit: { ...rateLimit, maxWaitMs } })
      : policy;
    return { policy: impatient, skipCooldown: hasBetter, layers };
  }
}
