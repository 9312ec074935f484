import {
  acceptControls,
  runTool,
  type Envelope,
  type RunOptions,
} from '@toolkeel/contract';
import { seededRandom, VirtualClock } from '@toolkeel/kernel/testing';
import { createHash, createHmac } from 'node:crypto';
import type { JournalEvent } from '../events.js';
import { createJournal, type Journal } from '../journal.js';
import type { JournalOptions, Seals } from '../options.js';
import type { Liveness, Self } from '../owner/process.js';
import { memoryStore } from '../store/memory/store.js';
import type { JournalStore } from '../store/store.js';
import { toolsOf } from './tools.fixture.js';
import { Upstream } from './upstream.fixture.js';

export const EPOCH = Date.parse('2026-03-01T12:00:00Z');

/** Unreadable enough for a test, and not for anybody else. */
export const testSeals: Seals = {
  seal: (text) => `sealed:${Buffer.from(text).toString('base64')}`,
  open: (sealed) => Buffer.from(sealed.slice('sealed:'.length), 'base64').toString(),
  mac: (text) => createHmac('sha256', 'test').update(text).digest('hex'),
};

export interface Process {
  readonly journal: Journal;
  readonly events: JournalEvent[];
  readonly reports: unknown[];
  /** As SIGKILL: nothing of it goes on, and nobody else is told. */
  readonly kill: () => void;
  readonly call: (tool: string, args: object, options?: CallOptions) => Promise<Envelope>;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly client?: AbortSignal;
  readonly correlationId?: string;
}

export interface RigOptions extends Partial<Omit<JournalOptions, 'store' | 'clock'>> {
  readonly pid?: number;
  readonly host?: string;
  /** Stands between a journal and its store. */
  readonly through?: (store: JournalStore) => JournalStore;
}

/** Processes that share a store and an upstream, in virtual time. */
export function rig(base: RigOptions = {}) {
  const clock = new VirtualClock({ startAt: 1000, epoch: EPOCH });
  const store = memoryStore({ now: () => clock.wallNow() });
  const upstream = new Upstream(clock);
  const dead = new Set<number>();
  let pids = 100;

  const start = (options: RigOptions = {}): Process => {
    const given = { ...base, ...options };
    const events: JournalEvent[] = [];
    const reports: unknown[] = [];
    const pid = given.pid ?? (pids += 1);
    const self: Self = { host: given.host ?? 'here', pid, startedAt: `t${pid}` };
    const liveness: Liveness = { self: () => self, isAlive: (other) => !dead.has(other.pid) };
    let killed = false;
    const isKilled = (): boolean => killed;
    const tools = toolsOf(upstream.wire(pid, isKilled), clock);
    const prepared = new Map(tools.map((tool) => [tool.name, acceptControls(tool)]));
    const gate = gated(given.through?.(store) ?? store, isKilled);
    const journal = createJournal({
      clock,
      random: seededRandom(pid),
      seals: testSeals,
      tools: { specs: () => [...prepared.values()], load: (name) => prepared.get(name) },
      observe: (event) => events.push(event),
      report: (cause) => reports.push(cause),
      liveness,
      ...given,
      store: gate,
    });
    return {
      journal,
      events,
      reports,
      kill: () => {
        killed = true;
        dead.add(pid);
      },
      call: async (name, args, call = {}) => {
        const tool = prepared.get(name) ?? journal.tool;
        const { timeoutMs = 15_000, meta = {}, client, correlationId } = call;
        const scope = scopeFor(clock.now() + timeoutMs, meta, client);
        const options: RunOptions = {
          clock,
          deadline: scope.deadline + 10,
          profile: { name: 'workflow', mode: 'autopilot', approvalMode: true },
          around: (accepted, next) =>
            journal.around(
              accepted,
              (extra) => next({ deadline: scope.deadline, signal: scope.signal, ...extra }),
              scope,
            ),
          onUnexpected: (cause) => reports.push(cause),
          ...(client && { signal: client }),
          ...(correlationId !== undefined && { correlationId }),
        };
        return (await runTool(tool, args, options)).envelope;
      },
    };
  };
  return { clock, store, upstream, start };
}

/** As the host makes it: a client that leaves ends the call, unless it is held. */
function scopeFor(
  deadline: number,
  meta: Readonly<Record<string, unknown>>,
  client: AbortSignal | undefined,
) {
  const controller = new AbortController();
  let held = false;
  const leave = (): void => {
    if (!held) controller.abort(client?.reason);
  };
  client?.addEventListener('abort', leave, { once: true });
  return {
    deadline,
    meta,
    signal: controller.signal,
    hold: () => {
      held = true;
    },
  };
}

/** A store that a killed process cannot reach any more: its calls never return. */
function gated(store: JournalStore, isKilled: () => boolean): JournalStore {
  const never = new Promise<never>(() => undefined);
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (isKilled()) return never;
        const result: unknown = value.apply(target, args);
        if (!(result instanceof Promise)) return result;
        return result.then(
          (given: unknown) => (isKilled() ? never : given),
          (cause: unknown) => (isKilled() ? never : Promise.reject(cause as Error)),
        );
      };
    },
  });
}

export function keyFor(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 32);
}
