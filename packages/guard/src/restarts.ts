import { FaultError } from '@toolkeel/kernel';
import type { HostLog } from '@toolkeel/host';
import type { Frame, Id } from './frame.js';
import type { Connect, Link, LinkEvents } from './link.js';

interface RestartOptions {
  readonly name: string;
  readonly connect: Connect;
  readonly log: HostLog;
  readonly onFrame: (frame: Frame) => void;
  readonly onFailed: LinkEvents['onFailed'];
  readonly onBlocked: LinkEvents['onBlocked'];
  /** The link is lost, and with it everything in flight. */
  readonly onLost: (reason: string) => void;
  /** Repeats the handshake on a new link, before other frames are sent. Rejects if that fails. */
  readonly prepare: (link: Link) => Promise<void>;
  /** There is a link that is ready for frames. */
  readonly onReady: (isRestart: boolean) => void;
  /** The upstream cannot be started. The next use tries again. */
  readonly onUnavailable: (reason: string) => void;
  readonly random?: () => number;
}

/** A link that ended sooner counts as a failed start. */
const STABLE_MS = 10_000;
const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 5000;
/** Failed starts in a row after which waiting calls fail. */
const MAX_FAILURES = 4;

interface Waiter {
  readonly resolve: (link: Link) => void;
  readonly reject: (cause: unknown) => void;
}

/** Keeps a link to an upstream: starts it again with backoff when it is lost. */
export class Restarts {
  readonly #options: RestartOptions;
  #link: Link | undefined;
  #isReady = false;
  #isClosed = false;
  #hasStarted = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Links that take no further frames, with requests in flight. */
  readonly #retired = new Set<Link>();
  #waiters: Waiter[] = [];
  #lastReason = 'is not running';
  /** Ends the start of a link that was lost meanwhile. */
  #generation = 0;

  constructor(options: RestartOptions) {
    this.#options = options;
  }

  /** The link if frames can be sent now. */
  get current(): Link | undefined {
    return this.#isReady ? this.#link : undefined;
  }

  /** Why there is no link. */
  get reason(): string | undefined {
    return this.current ? undefined : this.#lastReason;
  }

  /** The link, once it is ready. Rejects with a fault that says that nothing was sent. */
  ready(signal?: AbortSignal): Link | Promise<Link> {
    if (this.current) return this.current;
    if (this.#isClosed) throw notSent('the guard is stopping');
    this.start();
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject };
      this.#waiters.push(waiter);
      signal?.addEventListener('abort', () => {
        this.#waiters = this.#waiters.filter((one) => one !== waiter);
        reject(notSent('the call was abandoned'));
      });
    });
  }

  /** Starts the upstream if it is not running. */
  start(): void {
    if (this.#link || this.#timer || this.#isClosed) return;
    // The first restart is immediate: most losses are single ones.
    if (this.#failures <= 1) return this.#open();
    const backoff = Math.min(FIRST_DELAY_MS * 2 ** (this.#failures - 2), MAX_DELAY_MS);
    const delay = backoff * (0.5 + (this.#options.random ?? Math.random)() / 2);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#open();
    }, delay);
  }

  /** Ends an upstream that does not respond; a new one is started. */
  restart(reason: string): void {
    const link = this.#link;
    if (!link) return;
    this.#lost(this.#generation, reason);
    void link.close();
  }

  /** Ends an upstream that did not start in time. The next use tries again. */
  end(reason: string): void {
    const link = this.#link;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (link) {
      this.#lost(this.#generation, reason, true);
      return void link.close();
    }
    this.#rejectWaiters(reason);
    this.#options.onUnavailable(this.#lastReason);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#rejectWaiters('the guard is stopping');
    const links = [...this.#retired, ...(this.#link ? [this.#link] : [])];
    await Promise.all(links.map((link) => link.close()));
  }

  #open(): void {
    const { connect, onFrame, onFailed, onBlocked, prepare, onReady } = this.#options;
    const generation = ++this.#generation;
    const isCurrent = (): boolean => generation === this.#generation;
    let isRetired = false;
    const openedAt = Date.now();
    const link = connect({
      onFrame: (frame) => {
        if (isCurrent() || isRetired) onFrame(frame);
      },
      onFailed: (id: Id, fault) => {
        if (isCurrent() || isRetired) onFailed(id, fault);
      },
      onRetired: (reason) => {
        if (!isCurrent() || this.#link !== link) return;
        isRetired = true;
        this.#retire(link, reason);
      },
      onBlocked: (isBlocked) => {
        if (isCurrent()) onBlocked(isBlocked);
      },
      onClosed: (reason) => {
        if (this.#retired.delete(link)) return;
        if (this.#isReady && Date.now() - openedAt >= STABLE_MS) this.#failures = 0;
        this.#lost(generation, reason);
      },
    });
    if (!isCurrent()) return void link.close();
    this.#link = link;
    const isRestart = this.#hasStarted;
    this.#hasStarted = true;
    prepare(link).then(
      () => {
        if (!isCurrent() || this.#link !== link) return;
        this.#isReady = true;
        for (const { resolve } of this.#waiters.splice(0)) resolve(link);
        onReady(isRestart);
      },
      (cause: unknown) => {
        if (!isCurrent()) return;
        const why = cause instanceof Error ? cause.message : String(cause);
        this.restart(`did not complete its handshake: ${why}`);
      },
    );
  }

  /** Replaces a link whose requests in flight go on. */
  #retire(link: Link, reason: string): void {
    this.#retired.add(link);
    this.#generation++;
    this.#link = undefined;
    this.#isReady = false;
    this.#failures++;
    this.#lastReason = reason;
    const { name, log } = this.#options;
    log('warn', 'upstream_retired', { upstream: name, reason });
    this.start();
  }

  #lost(generation: number, reason: string, isLast = false): void {
    if (generation !== this.#generation || (!this.#link && this.#isClosed)) return;
    this.#generation++;
    this.#link = undefined;
    this.#isReady = false;
    if (this.#isClosed) return;
    this.#failures++;
    this.#lastReason = reason;
    const { name, log, onBlocked, onLost, onUnavailable } = this.#options;
    log('warn', 'upstream_lost', { upstream: name, reason, failures: this.#failures });
    // A link that was lost while it did not read never drains; the client has to be read again.
    onBlocked(false);
    onLost(reason);
    if (isLast || this.#failures >= MAX_FAILURES) {
      this.#rejectWaiters(reason);
      onUnavailable(reason);
      return;
    }
    this.start();
  }

  #rejectWaiters(reason: string): void {
    const message = `the upstream ${this.#lastReason === '' ? reason : this.#lastReason}`;
    for (const { reject } of this.#waiters.splice(0)) reject(notSent(message));
  }

  /** The upstream answered: the next loss starts without a delay. */
  succeeded(): void {
    this.#failures = 0;
  }
}

function notSent(message: string): FaultError {
  return new FaultError({ kind: 'connect', sent: 'no', cause: new Error(message) });
}
