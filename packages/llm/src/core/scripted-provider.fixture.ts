import type { TextEvent } from '@toolkeel/contract';
import { VirtualClock } from '@toolkeel/kernel/testing';
import type { ModelOptions } from './channel.js';
import { ProviderFault, type ProviderErrorCode } from './errors.js';
import { createModel, type Model } from './model.js';
import type {
  AttemptIo,
  ModelRequest,
  Provider,
  ProviderEvent,
  ProviderHealth,
} from './provider.js';
import type { Fault } from '@toolkeel/kernel';

/** A step of a scripted attempt. */
export type Step =
  | { readonly waitMs: number }
  | 'connected'
  | 'headers'
  | 'bytes'
  | ProviderEvent
  | { readonly fails: ProviderErrorCode; readonly fault: Omit<Fault, 'sent'> & Partial<Fault> }
  | 'hang'
  | 'finish';

export const text = (words: string): Step => ({ type: 'content', text: words });

export const answers = (words: string): readonly Step[] => [
  'connected',
  'headers',
  text(words),
  'finish',
];

export const fails = (
  fails: ProviderErrorCode,
  fault: Omit<Fault, 'sent'> & Partial<Fault>,
): Step => ({ fails, fault });

export const overload = fails('overloaded', { kind: 'server', status: 529 });

export interface Scripted {
  readonly model: Model;
  readonly clock: VirtualClock;
  /** The requests that reached the provider, with the time of each. */
  readonly requests: { readonly at: number; readonly request: ModelRequest; aborted: boolean }[];
}

/** A model whose attempts follow scripts, in virtual time. The last script repeats. */
export function scripted(
  scripts: readonly (readonly Step[])[],
  options: ModelOptions & {
    readonly name?: string;
    readonly check?: () => Promise<ProviderHealth>;
  } = {},
): Scripted {
  const clock = (options.clock as VirtualClock | undefined) ?? new VirtualClock();
  const requests: Scripted['requests'] = [];
  const { check = () => Promise.resolve({ state: 'healthy', detail: 'scripted' } as const) } =
    options;
  const provider: Provider = {
    name: options.name ?? 'scripted',
    model: 'model-1',
    serves: (model) => model.startsWith(options.name ?? 'scripted'),
    timeouts: {},
    run: async (request, io) => {
      const script = scripts[Math.min(requests.length, scripts.length - 1)] ?? [];
      const seen = { at: clock.now(), request, aborted: false };
      requests.push(seen);
      io.signal.addEventListener('abort', () => (seen.aborted = true));
      io.begin();
      for (const step of script) {
        if (step === 'finish') return { finish: 'stop', model: 'model-1' };
        await perform(step, io, clock);
      }
      throw new Error('the script ended without a finish');
    },
    health: check,
    models: () => check().then(() => [{ id: 'model-1' }]),
    close: () => Promise.resolve(),
  };
  return {
    model: createModel(provider, { random: () => 0.5, ...options, clock }),
    clock,
    requests,
  };
}

async function perform(
  step: Exclude<Step, 'finish'>,
  io: AttemptIo,
  clock: VirtualClock,
): Promise<void> {
  if (step === 'hang') return new Promise(() => {});
  if (step === 'bytes') return io.bytes(1);
  if (typeof step === 'string') return io[step]();
  if ('waitMs' in step) {
    return new Promise((resolve) => clock.setTimer(step.waitMs, () => resolve()));
  }
  if ('fails' in step) {
    throw new ProviderFault(step.fails, 'scripted failure', { sent: 'answered', ...step.fault });
  }
  return io.emit(step);
}

export const question = { messages: [{ role: 'user', content: 'Why?' }] } as const;

/** All events of a stream, each with its time. */
export async function collect(
  stream: AsyncIterable<TextEvent>,
  clock: VirtualClock,
): Promise<readonly (TextEvent & { readonly at: number })[]> {
  const events: (TextEvent & { at: number })[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push({ ...event, at: clock.now() });
  })();
  await clock.run(reading);
  return events;
}

/** A stream in short: `content:text`, `retry@2000`, `error:code`. */
export const summary = (events: readonly TextEvent[]): readonly string[] =>
  events.map((event) => {
    switch (event.type) {
      case 'content':
      case 'thinking':
        return `${event.type}:${event.text}`;
      case 'retry':
        return `retry@${event.afterMs}:${event.error.code}`;
      case 'error':
        return `error:${event.error.code}`;
      default:
        return event.type;
    }
  });

/** The error of a promise. */
export const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Timers that are left after a call. The kernel's own tick, which all calls share, ends by itself. */
export async function leftTimers(clock: VirtualClock): Promise<number> {
  await clock.advance(1_000);
  return clock.pending;
}
