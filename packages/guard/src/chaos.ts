import { seededRandom } from '@toolkeel/kernel/testing';
import type { HostLog } from '@toolkeel/host';
import { ChaosReport, type ChaosFault } from './chaos-report.js';
import type { UpstreamConfig } from './config.js';
import {
  frameOf,
  isObject,
  isRequest,
  isResponse,
  objectIn,
  type Frame,
  type Id,
  type RequestFrame,
} from './frame.js';
import type { Connect, LinkEvents } from './link.js';
import type { Client } from './session-options.js';

type ChaosSettings = NonNullable<UpstreamConfig['chaos']>;

interface ChaosOptions {
  /** The name of the upstream. */
  readonly name: string;
  readonly settings: ChaosSettings;
  /** Whether a call is known to change nothing. */
  readonly isRead: (tool: string, args: Readonly<Record<string, unknown>>) => boolean;
  /** Must not be silenced: faults are never injected without notice. */
  readonly log: HostLog;
}

export interface Chaos {
  /** The two ends of a session with fault injection between guard and upstream. */
  readonly between: (
    connect: Connect,
    client: Client,
  ) => { readonly connect: Connect; readonly client: Client };
  /** Logs the last summary. */
  readonly close: () => void;
}

/** How often each fault is drawn: errors and lost answers are common, hangs and crashes are rare. */
const WEIGHTS: Readonly<Record<ChaosFault, number>> = Object.freeze({
  error: 25,
  lost: 20,
  refused: 15,
  delay: 15,
  rate_limited: 10,
  crash: 10,
  hang: 5,
});

const SUMMARY_MS = 60_000;
const MAX_DELAY_MS = 1000;
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Injects faults between the guard and an upstream, and compares calls with and without the guard. */
export function createChaos({ name, settings, isRead, log }: ChaosOptions): Chaos {
  const { rate, all } = settings;
  // Drawn once and logged, so that a run can be repeated.
  const seed = settings.seed ?? Math.floor(Math.random() * 2 ** 31);
  const random = seededRandom(seed);
  const report = new ChaosReport();
  const faults = settings.faults ?? (Object.keys(WEIGHTS) as ChaosFault[]);
  log('warn', 'chaos_enabled', {
    upstream: name,
    message: `Fault injection is on for ${all ? 'ALL calls, including mutations' : 'calls of read tools'}: every attempt fails with a probability of ${rate}. Remove --chaos or the setting chaos to end it.`,
    rate,
    seed,
    all,
    faults,
  });
  let reported = 0;
  const summarize = (): void => {
    if (report.calls === reported) return;
    reported = report.calls;
    const { message, ...facts } = report.summary();
    const title = `Rehearsal of ${name} (rate ${rate}, seed ${seed})`;
    log('warn', 'chaos_summary', { upstream: name, message: `${title}: ${message}`, ...facts });
  };
  const timer = setInterval(summarize, SUMMARY_MS).unref();

  const draw = (): ChaosFault | undefined => {
    if (random() >= rate) return undefined;
    const total = faults.reduce((sum, fault) => sum + WEIGHTS[fault], 0);
    let at = random() * total;
    return faults.find((fault) => (at -= WEIGHTS[fault]) < 0) ?? faults.at(-1);
  };
  const isTarget = ({ message: { params } }: RequestFrame): boolean =>
    all || isRead(String(params?.['name']), objectIn(params, 'arguments'));

  return {
    between: (connect, client) => {
      const session = report.session();
      const open: Connect = (events) =>
        injected(connect, events, {
          settings,
          random,
          isTarget,
          // The numbers of a run depend on the order of its calls only.
          drawFor: (frame) => (isTarget(frame) ? draw() : undefined),
          noteAttempt: (frame, fault) => session.attempted(frame, fault),
          noteCrash: (ids) => session.crashed(ids),
        });
      const send: Client['send'] = (frame, written) => {
        if (isResponse(frame)) session.answered(frame.message);
        client.send(frame, written);
      };
      return { connect: open, client: { ...client, send } };
    },
    close: () => {
      clearInterval(timer);
      summarize();
    },
  };
}

interface Injection {
  readonly settings: ChaosSettings;
  readonly random: () => number;
  readonly isTarget: (frame: RequestFrame) => boolean;
  readonly drawFor: (frame: RequestFrame) => ChaosFault | undefined;
  readonly noteAttempt: (frame: RequestFrame, fault: ChaosFault | undefined) => void;
  readonly noteCrash: (inFlight: readonly Id[]) => void;
}

/** A link that fails on purpose. */
function injected(connect: Connect, events: LinkEvents, injection: Injection) {
  const { settings, random, isTarget, drawFor, noteAttempt, noteCrash } = injection;
  /** Calls on this link; true if they may be hit by a crash. */
  const inFlight = new Map<Id, boolean>();
  /** What happens to the answer when it arrives. */
  const onAnswer = new Map<Id, (frame: Frame) => void>();
  const timers = new Set<NodeJS.Timeout>();
  let isLost = false;

  const later = (ms: number, action: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!isLost) action();
    }, ms);
    timers.add(timer);
  };
  const lose = (reason: string): void => {
    if (isLost) return;
    isLost = true;
    timers.forEach(clearTimeout);
    events.onClosed(reason);
  };
  const deliver = (frame: Frame): void => {
    if (isResponse(frame)) inFlight.delete(frame.message.id);
    events.onFrame(frame);
  };
  const fail = (id: Id, fault: Parameters<LinkEvents['onFailed']>[1]): void => {
    inFlight.delete(id);
    events.onFailed(id, { ...fault, cause: new Error('injected by --chaos') });
  };
  const link = connect({
    ...events,
    onFrame: (frame) => {
      if (isLost) return;
      const special = isResponse(frame) ? onAnswer.get(frame.message.id) : undefined;
      if (!special || !isResponse(frame)) return deliver(frame);
      onAnswer.delete(frame.message.id);
      special(frame);
    },
    onClosed: lose,
  });

  const apply: Readonly<Record<ChaosFault, (frame: RequestFrame, send: () => void) => void>> = {
    error: (frame) => later(0, () => deliver(failure(frame, 'HTTP 503: Service Unavailable'))),
    rate_limited: (frame) =>
      later(0, () => deliver(failure(frame, 'rate limit exceeded. Retry after 250ms'))),
    refused: ({ message: { id } }) => later(0, () => fail(id, { kind: 'connect', sent: 'no' })),
    lost: ({ message: { id } }, send) => {
      onAnswer.set(id, () => fail(id, { kind: 'network', sent: 'maybe' }));
      send();
    },
    delay: ({ message: { id } }, send) => {
      const ms = 100 + random() * (MAX_DELAY_MS - 100);
      onAnswer.set(id, (frame) => later(ms, () => deliver(frame)));
      send();
    },
    hang: ({ message: { id } }, send) => {
      onAnswer.set(id, () => {});
      // Stands for the timeout of an attempt, which is too long for a rehearsal.
      const timeout = { kind: 'timeout', sent: 'maybe', clock: 'idle' } as const;
      later(settings.hangSecs * 1000, () => fail(id, timeout));
      send();
    },
    crash: (_frame, send) => {
      // A read that is lost with the server need not reach it.
      if (settings.all) send();
      later(0, () => {
        noteCrash([...inFlight.keys()]);
        lose('crashed (injected by --chaos)');
        void link.close();
      });
    },
  };

  return {
    ...link,
    send: (frame: Frame, isMutation?: boolean): void => {
      if (isLost) throw new Error('the upstream is not running');
      if (!isRequest(frame) || frame.message.method !== 'tools/call') {
        return link.send(frame, isMutation);
      }
      const drawn = drawFor(frame);
      // The crash that a read draws must not make the outcome of a mutation unknown.
      const isSafe = settings.all || [...inFlight.values()].every(Boolean);
      const fault = drawn === 'crash' && !isSafe ? 'lost' : drawn;
      inFlight.set(frame.message.id, isTarget(frame));
      noteAttempt(frame, fault);
      const send = (): void => link.send(frame, isMutation);
      if (fault) apply[fault](frame, send);
      else send();
    },
    close: (): Promise<void> => {
      timers.forEach(clearTimeout);
      return link.close();
    },
  };
}

/** A result as servers report a failed request of theirs. */
function failure({ message: { id, params } }: RequestFrame, text: string): Frame {
  const meta = params?.['_meta'];
  const isModern = isObject(meta) && meta[VERSION_KEY] !== undefined;
  const result = {
    content: [{ type: 'text', text: `${text} (injected by --chaos)` }],
    isError: true,
    ...(isModern && { resultType: 'complete' }),
  };
  return frameOf({ jsonrpc: '2.0', id, result });
}
