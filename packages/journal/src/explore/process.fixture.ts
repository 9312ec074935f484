import type { Tool } from '@toolkeel/contract';
import { createJournal, type Journal } from '../journal.js';
import type { JournalOptions } from '../options.js';
import type { ProcessRef } from '../owner/process.js';
import { createEncryption } from '../encryption/encryption.js';
import type { JournalStore } from '../store/store.js';
import { TEMPLATE, toolsFor, type HandlerMode, type Wire } from './adapter.fixture.js';
import { ProcessClock, type SharedTime } from './clock.fixture.js';

/** A new one each time: what waits for it must not be kept alive by others that do. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** A process that is silent for so long loses what it owns. */
export const LEASE_MS = 15_000;
/**
 * While a process runs, its lease never expires: it would only be renewed all the time. It gets the
 * real lease when it is killed or stalls.
 */
const RUNNING_MS = 3 * 365 * 86_400_000;
const APPROVAL_MS = 3_600_000;
const PERIOD_MS = RUNNING_MS / 3;

export interface ProcessOptions {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly account: string;
  /** Of what it carries out without a call of its own. */
  readonly mode: HandlerMode;
  readonly approvals: boolean;
  readonly template: boolean;
  readonly time: SharedTime;
  readonly store: JournalStore;
  readonly isAlive: (other: ProcessRef) => boolean;
  readonly wire: (process: Process) => Wire;
  /** Before every transition that changes something: resolves when it may be made. */
  readonly point: (process: Process, transition: string) => Promise<void> | undefined;
}

const SEALING = createEncryption(new Uint8Array(32));
/** The transitions that a call makes. To be killed before one that only reads makes no difference. */
const POINTS: ReadonlySet<string> = new Set([
  'claim',
  'takeApproved',
  'send',
  'settle',
  'reconcile',
  'awaitApproval',
]);

/** A process with a journal of its own that can be killed, and stalled, as SIGKILL and SIGSTOP do. */
export class Process {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly journal: Journal;
  readonly tools: Readonly<Record<HandlerMode, ReadonlyMap<string, Tool>>>;
  readonly signal: AbortSignal = new AbortController().signal;
  readonly pid: number;
  isKilled = false;
  stalledAt: string | undefined;
  /** Under which the store knows it. */
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
      // A call that meets an operation in flight answers at once: time only passes between events.
      waitMs: 0,
      refusalMs: APPROVAL_MS,
      ...(options.approvals && { decide }),
      ...(options.template && { templates: TEMPLATE }),
      store: this.#through(store, options.point),
    });
  }

  /** Everything that it asks of the store stops with it. */
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
    return this.isKilled ? never() : this.#stalled;
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

  /** As its next renewal does, where the lease has not expired meanwhile. */
  renewLease(): void {
    if (this.owner !== undefined) void this.#store.renew(this.owner, RUNNING_MS);
  }
}
