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
import type { SpokenRevision } from './bridge.js';
import { MODERN_VERSION } from './bridge-parts.js';
import type { GuardedCalls } from './calls.js';
import { keepTexts } from './kept-texts.js';
import { ownIds } from './own-requests.js';
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
  /** Whether clients of 2026-07-28 are bridged to it if it speaks an earlier revision. */
  readonly isBridged: boolean;
  /** What it has said about its revision, to any client. */
  readonly spoken: SpokenRevision;
  readonly calls: Pick<GuardedCalls, 'run' | 'limitMs'>;
  readonly open: (client: Client) => Session;
}

/** The first request to an upstream. Revision 2026-07-28 has no other handshake. */
export type Hello =
  | { readonly method: 'initialize'; readonly params: Members }
  | { readonly method: 'server/discover'; readonly params: Members };

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
/** How long an upstream that did not say which revision it speaks is not started only to ask it. */
const ASK_AGAIN_MS = 10_000;
/** The code of a session whose upstream cannot be reached: it says nothing about the upstream. */
const UNAVAILABLE_CODE = 503;

/** One upstream of a client that has several: its session, its handshake and what it lists. */
export class Branch {
  readonly #options: BranchOptions;
  readonly #waiting = new Map<Id, (frame: Frame | undefined) => void>();
  readonly #lists = new Map<string, readonly Members[]>();
  /** Lists that the upstream was asked for, answered or not. */
  readonly #asked = new Set<string>();
  /** Lists that the upstream has changed since. */
  readonly #stale = new Set<string>();
  #session: Session | undefined;
  #initialized: Frame | undefined;
  #result: Members | undefined;
  #starting: Promise<void> | undefined;
  #reason = 'was not started';
  /** Added to requests of the guard itself. */
  #meta: Members | undefined;
  #failures = 0;
  readonly #nextId = ownIds((id) => this.#waiting.has(id));
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

  /** Resolves when the start that is in progress has succeeded or failed. Undefined: there is none. */
  get starting(): Promise<void> | undefined {
    return this.#starting;
  }

  /** Why the upstream is not ready. */
  get reason(): string {
    return this.#reason;
  }

  /** Whether clients of 2026-07-28 can use it, as far as is known. */
  get isModern(): boolean {
    const { isBridged, spoken } = this.upstream;
    return isBridged || spoken.modern === true;
  }

  /** Whether it is known, or was just found out, that they cannot. */
  get isTooOld(): boolean {
    const { modern, askAgainAt = 0 } = this.upstream.spoken;
    if (this.isModern) return false;
    return modern === false || performance.now() < askAgainAt;
  }

  /** Starts the upstream. Resolves when it is ready, cannot be started now, or its time is over. */
  start(hello: Hello): Promise<void> {
    if (hello.method === 'server/discover') this.#meta = objectIn(hello.params, '_meta');
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.upstream.startWaitMs);
      void this.#attempt(hello).then(() => {
        clearTimeout(timer);
        resolve();
      });
    }).then(() => {
      if (this.isModern || hello.method === 'initialize') return;
      this.upstream.spoken.askAgainAt = performance.now() + ASK_AGAIN_MS;
    });
  }

  #attempt(hello: Hello): Promise<void> {
    const starting = this.#handshake(hello).finally(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    this.#starting = starting;
    return starting;
  }

  /** An upstream that does not complete its handshake is started again, with backoff. */
  async #handshake(hello: Hello): Promise<void> {
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
    const answered = await this.ask(hello.method, hello.params, startTimeoutMs);
    if (this.#isClosed) return;
    if (hello.method === 'server/discover' && answered) this.#learnRevision(answered);
    if (answered?.result && (hello.method === 'initialize' || this.isModern)) {
      this.#result = answered.result;
      this.#failures = 0;
      if (this.#initialized) this.receive(this.#initialized);
      return onReady();
    }
    const reason = answered?.error?.message ?? `it did not answer ${hello.method} in time`;
    this.#reason = `cannot be started: ${reason.replace(/\.$/, '')}`;
    const delay = Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, MAX_RETRY_MS);
    log('error', 'upstream_not_started', { upstream: name, reason, retry_after_ms: delay });
    this.#session = undefined;
    this.#retry = setTimeout(() => void this.#attempt(hello), delay).unref();
    await session.close();
  }

  /** An error is the answer of a server that does not know the request. */
  #learnRevision({ result, error }: Message): void {
    const { spoken } = this.upstream;
    const versions = result?.['supportedVersions'];
    if (result) spoken.modern = Array.isArray(versions) && versions.includes(MODERN_VERSION);
    else if (error?.code !== UNAVAILABLE_CODE) spoken.modern = false;
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
    if (own) return own(frame);
    this.#options.onFrame(frame, written);
  }

  /** Makes a request beside those of the client. Undefined: no answer in time. */
  async ask(method: string, params: Members, timeoutMs: number): Promise<Message | undefined> {
    const answered = await this.#ask(method, params, timeoutMs);
    const { result } = answered?.message ?? {};
    if (answered && result) keepTexts([result], answered);
    return answered?.message;
  }

  #ask(method: string, params: Members, timeoutMs: number): Promise<Frame | undefined> {
    const id = this.#nextId();
    return new Promise((resolve) => {
      const settle = (frame: Frame | undefined): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(frame);
      };
      const timer = setTimeout(settle, timeoutMs, undefined);
      this.#waiting.set(id, settle);
      const own = this.#meta && {
        ...params,
        _meta: { ...this.#meta, ...objectIn(params, '_meta') },
      };
      const message = { jsonrpc: '2.0', id, method, params: own ?? params } as const;
      if (!this.receive(frameOf(message))) settle(undefined);
    });
  }

  /** What the upstream listed last; empty if it was not asked yet. */
  listed(method: string): readonly Members[] {
    return this.#lists.get(method) ?? [];
  }

  isListed(method: string): boolean {
    return this.#lists.has(method) && !this.#stale.has(method);
  }

  /** Whether nothing more is learned by waiting for the list. */
  wasAsked(method: string): boolean {
    return this.#asked.has(method);
  }

  /** The upstream did not answer in time: nothing waits for this list any more. */
  gaveUp(method: string): void {
    this.#asked.add(method);
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
      const answered = await this.#ask(method, params, this.upstream.startTimeoutMs);
      const { result } = answered?.message ?? {};
      const found = result?.[member];
      if (!answered || !Array.isArray(found)) {
        this.gaveUp(method);
        return false;
      }
      const listed = (found as readonly unknown[]).filter(isObject);
      keepTexts(listed, answered);
      items.push(...listed);
      cursor = result?.['nextCursor'];
      if (typeof cursor !== 'string') break;
    }
    this.#lists.set(method, items);
    this.#asked.add(method);
    this.#stale.delete(method);
    return true;
  }

  /** The connection that waited for this call is gone. */
  detach(id: Id): void {
    this.#session?.detach(id);
  }

  /** The client has cancelled a call while its response was on its way. */
  dropped(id: Id): void {
    this.#session?.dropped(id);
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
