import type { HostLog } from '@toolkeel/host';
import {
  frameOf,
  isObject,
  isResponse,
  objectIn,
  type Frame,
  type Id,
  type Message,
} from './frame.js';
import type { Client } from './session-options.js';
import type { Session } from './session.js';

export type Members = Readonly<Record<string, unknown>>;

/** An upstream as one of several. */
export interface BranchUpstream {
  readonly name: string;
  readonly prefix: string;
  /** How long a client's handshake waits for it, and how long it may take to complete it. */
  readonly startWaitMs: number;
  readonly startTimeoutMs: number;
  readonly open: (client: Client) => Session;
}

interface BranchOptions {
  readonly upstream: BranchUpstream;
  readonly client: Client;
  readonly log: HostLog;
  /** Receives everything but the answers to requests of the branch itself. */
  readonly onFrame: (frame: Frame, written?: (isDelivered: boolean) => void) => void;
  /** The handshake is complete, maybe later than the client's. */
  readonly onReady: () => void;
}

const FIRST_RETRY_MS = 2000;
const MAX_RETRY_MS = 60_000;
const MAX_PAGES = 100;

/** One upstream of a client that has several: its session, its handshake and what it lists. */
export class Branch {
  readonly #options: BranchOptions;
  readonly #waiting = new Map<Id, (message: Message | undefined) => void>();
  readonly #lists = new Map<string, readonly Members[]>();
  /** Lists that the upstream has changed since. */
  readonly #stale = new Set<string>();
  #session: Session | undefined;
  #initialized: Frame | undefined;
  #result: Members | undefined;
  #failures = 0;
  #sequence = 0;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: BranchOptions) {
    this.#options = options;
  }

  get upstream(): BranchUpstream {
    return this.#options.upstream;
  }

  /** The result of the upstream's handshake; undefined before. */
  get result(): Members | undefined {
    return this.#result;
  }

  can(capability: string): boolean {
    return isObject(objectIn(this.#result, 'capabilities')[capability]);
  }

  /** Starts the upstream. Resolves when it is ready, cannot be started now, or its time is over. */
  start(params: Members): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.upstream.startWaitMs);
      void this.#handshake(params).then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** An upstream that does not complete its handshake is started again, with backoff. */
  async #handshake(params: Members): Promise<void> {
    const { upstream, client, log, onReady } = this.#options;
    const { name, startTimeoutMs } = upstream;
    const session = upstream.open({
      ...(client.lagMs !== undefined && { lagMs: client.lagMs }),
      send: (frame, written) => this.#fromSession(frame, written),
      // The others go on: calls of an upstream that does not read are bounded by its own limits.
      pause: () => {},
      resume: () => {},
    });
    this.#session = session;
    const answered = await this.ask('initialize', params, startTimeoutMs);
    if (this.#isClosed) return;
    if (answered?.result) {
      this.#result = answered.result;
      this.#failures = 0;
      if (this.#initialized) this.receive(this.#initialized);
      return onReady();
    }
    const reason = answered?.error?.message ?? 'it did not answer initialize in time';
    const delay = Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, MAX_RETRY_MS);
    log('error', 'upstream_not_started', { upstream: name, reason, retry_after_ms: delay });
    this.#session = undefined;
    this.#retry = setTimeout(() => void this.#handshake(params), delay).unref();
    await session.close();
  }

  /** The client has completed its handshake. */
  initialized(frame: Frame): void {
    this.#initialized = frame;
    if (this.#result) this.receive(frame);
  }

  /** Passes a frame of the client on. False if the upstream is not running. */
  receive(frame: Frame): boolean {
    this.#session?.receive(frame);
    return this.#session !== undefined;
  }

  #fromSession(frame: Frame, written?: (isDelivered: boolean) => void): void {
    const own = isResponse(frame) ? this.#waiting.get(frame.message.id) : undefined;
    if (own) return own(frame.message);
    this.#options.onFrame(frame, written);
  }

  /** Makes a request beside those of the client. Undefined: no answer in time. */
  ask(method: string, params: Members, timeoutMs: number): Promise<Message | undefined> {
    const id = `toolkeel-route:${++this.#sequence}`;
    return new Promise((resolve) => {
      const settle = (message: Message | undefined): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(message);
      };
      const timer = setTimeout(settle, timeoutMs, undefined);
      this.#waiting.set(id, settle);
      if (!this.receive(frameOf({ jsonrpc: '2.0', id, method, params }))) settle(undefined);
    });
  }

  /** What the upstream listed last; empty if it was not asked yet. */
  listed(method: string): readonly Members[] {
    return this.#lists.get(method) ?? [];
  }

  isListed(method: string): boolean {
    return this.#lists.has(method) && !this.#stale.has(method);
  }

  /** The upstream lists something else now: `tools`, `prompts` or `resources`. */
  changed(kind: string): void {
    for (const method of this.#lists.keys()) if (method.startsWith(kind)) this.#stale.add(method);
  }

  /** Asks for all pages of a list. False: no answer, so what was listed before stays. */
  async list(method: string, member: string): Promise<boolean> {
    const items: Members[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answered = await this.ask(method, params, this.upstream.startTimeoutMs);
      const found = answered?.result?.[member];
      if (!Array.isArray(found)) return false;
      items.push(...(found as readonly unknown[]).filter(isObject));
      cursor = answered?.result?.['nextCursor'];
      if (typeof cursor !== 'string') break;
    }
    this.#lists.set(method, items);
    this.#stale.delete(method);
    return true;
  }

  /** The connection that waited for this call is gone. */
  detach(id: Id): void {
    this.#session?.detach(id);
  }

  toolsListed(): Promise<void> | undefined {
    return this.#session?.toolsListed();
  }

  pauseUpstream(): void {
    this.#session?.pauseUpstream();
  }

  resumeUpstream(): void {
    this.#session?.resumeUpstream();
  }

  disconnect(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#session?.disconnect();
  }

  async close(): Promise<void> {
    this.disconnect();
    for (const settle of this.#waiting.values()) settle(undefined);
    await this.#session?.close();
  }
}
