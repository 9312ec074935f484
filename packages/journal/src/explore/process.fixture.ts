import type { Tool } from '@toolkeel/contract';
import { createJournal, type Journal } from '../journal.js';
import type { JournalOptions } from '../options.js';
import type { ProcessRef } from '../owner/process.js';
import { createEncryption } from '../encryption/encryption.js';
import type { JournalStore } from '../store/store.js';
import { TEMPLATE, toolsFor, type HandlerMode, type Wire } from './adapter.fixture.js';
import type { Clock } from '@toolkeel/kernel';

/** A new promise each time, so that its waiters can be garbage-collected separately. */
export function pendingForever(): Promise<never> {
  return new Promise(() => undefined);
}

export const LEASE_MS = 15_000;
/** A running process never needs a renewal. It gets the real lease when it is killed or stalls. */
const RUNNING_MS = 3 * 365 * 86_400_000;
const APPROVAL_MS = 3_600_000;
const PERIOD_MS = RUNNING_MS / 3;

interface ProcessOptions {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly account: string;
  /** The send mode of operations without a call, such as approved ones. */
  readonly mode: HandlerMode;
  readonly approvals: boolean;
  readonly template: boolean;
  readonly time: SharedTime;
  readonly store: JournalStore;
  readonly isAlive: (other: ProcessRef) => boolean;
  readonly wire: (process: Process) => Wire;
  /** Called before every transition that changes something; resolves when it may proceed. */
  readonly point: (process: Process, transition: string) => Promise<void> | undefined;
}

const SEALING = createEncryption(new Uint8Array(32));
/** The transitions of a call. A kill before a read makes no difference. */
const POINTS: ReadonlySet<string> = new Set([
  'claim',
  'takeApproved',
  'send',
  'settle',
  'reconcile',
  'awaitApproval',
]);

/** A process with its own journal that can be killed and stalled, as by SIGKILL and SIGSTOP. */
export class Process {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly journal: Journal;
  readonly tools: Readonly<Record<HandlerMode, ReadonlyMap<string, Tool>>>;
  readonly signal: AbortSignal = new AbortController().signal;
  readonly pid: number;
  isKilled = false;
  stalledAt: string | undefined;
  /** Its owner id in the store. */
  owner: string | undefined;
  readonly #store: JournalStore;
  #stalled: Promise<void> | undefined;
  #resume: () => void = () => undefined;

  constructor(options: ProcessOptions) {
    const { name, host, pid, time, store } = options;
    this.name = name;
    this.pid = pid;
    this.clock = new ProcessClock(time);
    this.#store = store;
    const wire = options.wire(this);
    this.tools = {
      automatic: toolsFor(wire, 'automatic', options.account),
      explicit: toolsFor(wire, 'explicit', options.account),
    };
    const decide: JournalOptions['decide'] = ({ tool }, { approved }) =>
      approved || tool.name !== 'note'
        ? { kind: 'allow', limits: [] }
        : { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: APPROVAL_MS };
    const tools = this.tools[options.mode];
    const self: ProcessRef = { host, pid, startedAt: `t${pid}` };
    this.journal = createJournal({
      clock: this.clock,
      random: () => 0.5,
      encryption: SEALING,
      tools: { specs: () => [...tools.values()], load: (wanted) => tools.get(wanted) },
      liveness: { self: () => self, isAlive: options.isAlive },
      leaseMs: RUNNING_MS,
      pollMs: PERIOD_MS,
      // Time only passes between events, so a call does not wait for an operation in flight.
      waitMs: 0,
      refusalMs: APPROVAL_MS,
      ...(options.approvals && { decide }),
      ...(options.template && { templates: TEMPLATE }),
      store: this.#through(store, options.point),
    });
  }

  /** Store requests of a halted process do not proceed. */
  #through(store: JournalStore, point: ProcessOptions['point']): JournalStore {
    return new Proxy(store, {
      get: (_, name: keyof JournalStore) => {
        const method = store[name] as (...args: unknown[]) => Promise<unknown>;
        if (typeof method !== 'function' || name === 'onApproved') return method;
        return (...args: unknown[]): Promise<unknown> => {
          if (name === 'registerOwner') this.owner = (args[0] as { readonly id: string }).id;
          const gate = POINTS.has(name) ? point(this, name) : this.gate();
          return gate ? gate.then(() => method(...args)) : method(...args);
        };
      },
    });
  }

  /** Undefined while it runs. */
  gate(): Promise<void> | undefined {
    return this.isKilled ? pendingForever() : this.#stalled;
  }

  kill(): void {
    this.isKilled = true;
    this.clock.discard();
    this.#shortenLease();
  }

  stall(at: string): Promise<void> {
    this.stalledAt = at;
    this.#stalled = new Promise((resolve) => {
      this.#resume = resolve;
    });
    this.#shortenLease();
    return this.#stalled;
  }

  resume(): void {
    this.stalledAt = undefined;
    this.#stalled = undefined;
    this.#resume();
  }

  #shortenLease(): void {
    if (this.owner !== undefined) void this.#store.renew(this.owner, LEASE_MS);
  }

  /** Like its next renewal: has no effect after the lease expired. */
  renewLease(): void {
    if (this.owner !== undefined) void this.#store.renew(this.owner, RUNNING_MS);
  }
}

interface Timer {
  readonly at: number;
  readonly delayMs: number;
  readonly fire: () => void;
}

/** The time of all processes. It moves only by events. */
export interface SharedTime {
  /** Unix milliseconds. */
  now: number;
}

/** The clock of one process, whose timers stop with the process. */
export class ProcessClock implements Clock {
  readonly #time: SharedTime;
  readonly #timers = new Set<Timer>();

  constructor(time: SharedTime) {
    this.#time = time;
  }

  now(): number {
    return this.#time.now;
  }

  wallNow(): number {
    return this.#time.now;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const timer = { at: this.#time.now + Math.max(0, delayMs), delayMs, fire };
    this.#timers.add(timer);
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.#timers.delete(timer as Timer);
  }

  /** When timers are due. */
  times(): readonly number[] {
    return [...this.#timers].map(({ at }) => at);
  }

  isDue(): boolean {
    for (const { at } of this.#timers) if (at <= this.#time.now) return true;
    return false;
  }

  /** Fires due timers in order. */
  fireDue(): void {
    const due = [...this.#timers].filter(({ at }) => at <= this.#time.now);
    for (const timer of due.toSorted((one, other) => one.at - other.at)) this.#fire(timer);
  }

  /** Fires periodic work now: all of it, or the work with this period. */
  firePeriodic(ms?: number): void {
    const round = [...this.#timers].filter(({ delayMs }) => ms === undefined || delayMs === ms);
    for (const timer of round) this.#fire(timer);
  }

  discard(): void {
    this.#timers.clear();
  }

  /** Unless another timer cleared it. */
  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.fire();
  }
}

/** Lets all ready promises run. */
export function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
