import type { HostLog } from '@toolkeel/host';
import { LegacyServer } from './bridge-legacy-server.js';
import { ModernServer } from './bridge-modern-server.js';
import { LEGACY_VERSION, MODERN_VERSION, type Ends, type Translator } from './bridge-parts.js';
import {
  frameOf,
  isRequest,
  isResponse,
  objectIn,
  type Frame,
  type Id,
  type Message,
  type RequestFrame,
} from './frame.js';
import type { Connect, Link, LinkEvents } from './link.js';
import { ownIds, OwnRequests } from './own-requests.js';

/**
 * Which clients are bridged to a server that does not speak their revision: none; those that open a session
 * (2025-11-25 and earlier); or those of 2026-07-28 as well. The last is a choice of the operator, because
 * most of these clients fall back to an earlier revision by themselves and keep more features that way.
 */
type BridgeMode = 'off' | 'sessions' | 'all';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

/** How long a server may take to say whether it knows revision 2026-07-28. */
const PROBE_MS = 2000;
const START_MS = 60_000;

interface BridgeOptions {
  readonly name: string;
  readonly mode: BridgeMode;
  readonly log: HostLog;
}

/** Whether a server has said that it speaks revision 2026-07-28; undefined before it was asked. */
export interface SpokenRevision {
  modern?: boolean;
  /** By the monotonic clock. */
  askAgainAt?: number;
}

/** What is known about the server, also after it was restarted. */
interface Verdict {
  speaks?: 'modern' | 'legacy' | undefined;
}

/**
 * Bridges clients and servers of different protocol revisions. Frames pass untouched where both speak the
 * same revision, which the first exchange decides.
 */
export function bridged(connect: Connect, options: BridgeOptions): Connect {
  if (options.mode === 'off') return connect;
  const verdict: Verdict = {};
  return (events) => new Bridge(connect, events, options, verdict).link;
}

class Bridge {
  readonly link: Link;
  readonly #events: LinkEvents;
  readonly #options: BridgeOptions;
  readonly #verdict: Verdict;
  readonly #inner: Link;
  readonly #own = new OwnRequests();
  #translator: Translator | undefined;
  #isDecided = false;
  #isProbing = false;
  #isClosed = false;
  #initialize: RequestFrame | undefined;
  /** Frames that wait for the decision; undefined if they need not wait. */
  #waiting: [frame: Frame, isMutation: boolean][] | undefined;
  readonly #nextId = ownIds((id) => this.#own.has(id));

  constructor(connect: Connect, events: LinkEvents, options: BridgeOptions, verdict: Verdict) {
    this.#events = events;
    this.#options = options;
    this.#verdict = verdict;
    this.#inner = connect({
      ...events,
      onFrame: (frame) => this.#fromUpstream(frame),
      onFailed: (id, fault) => {
        if (!this.#own.settle(id)) events.onFailed(id, fault);
      },
      onClosed: (reason) => {
        this.#isClosed = true;
        // A server that ends at a request that it does not know, as some do, gets a handshake next time.
        if (this.#isProbing) verdict.speaks = 'legacy';
        this.#own.lose();
        events.onClosed(reason);
      },
    });
    this.link = {
      ...this.#inner,
      send: (frame, isMutation) => this.#toUpstream(frame, isMutation === true),
    };
  }

  readonly #ends: Ends = {
    answer: (message) => {
      try {
        this.#inner.send(frameOf(message));
      } catch {
        // `onClosed` follows.
      }
    },
    up: (message, isMutation, origin) => this.#inner.send(frameOf(message, origin), isMutation),
    down: (message, origin) => this.#events.onFrame(frameOf(message, origin)),
  };

  #toUpstream(frame: Frame, isMutation: boolean): void {
    if (this.#waiting) return void this.#waiting.push([frame, isMutation]);
    if (this.#isDecided) {
      if (this.#translator) return this.#translator.toUpstream(frame, isMutation);
      return this.#inner.send(frame, isMutation);
    }
    const { method, params } = frame.message;
    const { speaks } = this.#verdict;
    if (isRequest(frame) && method === 'initialize') {
      this.#initialize = frame;
      if (speaks === 'modern') return void this.#discover(frame, undefined);
    } else if (isRequest(frame) && objectIn(params, '_meta')[VERSION_KEY] !== undefined) {
      if (this.#options.mode === 'all' && speaks !== 'modern') {
        this.#waiting = [[frame, isMutation]];
        return void this.#negotiate(frame);
      }
      this.#isDecided = true;
    }
    this.#inner.send(frame, isMutation);
  }

  #fromUpstream(frame: Frame): void {
    if (isResponse(frame) && this.#own.settle(frame.message.id, frame)) return;
    if (this.#translator) return this.#translator.fromUpstream(frame);
    const initialize = this.#initialize;
    if (!this.#isDecided && initialize && frame.message.id === initialize.message.id) {
      if (frame.message.error) return void this.#discover(initialize, frame);
      this.#isDecided = true;
    }
    this.#events.onFrame(frame);
  }

  /** A server that refused `initialize` may speak revision 2026-07-28 only. */
  async #discover(initialize: RequestFrame, refusal: Frame | undefined): Promise<void> {
    this.#waiting ??= [];
    const info = initialize.message.params?.['clientInfo'];
    const answered = await this.#ask('server/discover', { _meta: metaOf(info) }, PROBE_MS);
    if (isModern(answered?.result)) {
      this.#decide('modern', new ModernServer(this.#ends, metaOf(info)));
      const result = ModernServer.initializeResult(initialize.message.params, answered.result);
      this.#ends.down({ jsonrpc: '2.0', id: initialize.message.id, result });
    } else {
      const error = { code: -32_603, message: 'The server does not answer server/discover.' };
      this.#events.onFrame(refusal ?? errorFrame(initialize.message.id, error));
    }
    this.#flush();
  }

  /** Finds out whether the server speaks revision 2026-07-28, and opens a session if it does not. */
  async #negotiate(first: RequestFrame): Promise<void> {
    const info = objectIn(first.message.params, '_meta')[CLIENT_INFO_KEY];
    if (this.#verdict.speaks === undefined) {
      this.#isProbing = true;
      const probed = await this.#ask('server/discover', { _meta: metaOf(info) }, PROBE_MS);
      this.#isProbing = false;
      if (this.#isClosed) return;
      if (isModern(probed?.result)) {
        this.#decide('modern', undefined);
        return this.#flush();
      }
    }
    const clientInfo = info ?? { name: 'toolkeel-guard', version: '0.1.0' };
    const params = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo };
    const answered = await this.#ask('initialize', params, START_MS);
    if (answered?.result) {
      this.#ends.answer({ jsonrpc: '2.0', method: 'notifications/initialized' });
      this.#decide('legacy', new LegacyServer(this.#ends, answered.result));
      return this.#flush();
    }
    if (this.#isClosed) return;
    this.#verdict.speaks = undefined;
    const error = answered?.error ?? { code: -32_603, message: 'The server did not initialize.' };
    for (const [{ message }] of this.#waiting?.splice(0) ?? []) {
      if (message.id !== undefined && message.id !== null && message.method !== undefined) {
        this.#events.onFrame(errorFrame(message.id, error));
      }
    }
    this.#waiting = undefined;
  }

  #decide(speaks: 'modern' | 'legacy', translator: Translator | undefined): void {
    this.#verdict.speaks = speaks;
    this.#isDecided = true;
    this.#translator = translator;
    if (!translator) return;
    const { log, name } = this.#options;
    log('info', 'upstream_bridged', { upstream: name, server: speaks });
  }

  #flush(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const [frame, isMutation] of waiting) {
      try {
        this.#toUpstream(frame, isMutation);
      } catch {
        // The link was lost meanwhile, which its end reports.
      }
    }
  }

  async #ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
    timeoutMs: number,
  ): Promise<Message | undefined> {
    const id = this.#nextId();
    const answered = await this.#own.ask(
      this.#inner,
      { jsonrpc: '2.0', id, method, params },
      timeoutMs,
    );
    return answered?.message;
  }
}

/** The `_meta` of requests to a server of revision 2026-07-28. The bridge has no capabilities. */
function metaOf(clientInfo: unknown): Readonly<Record<string, unknown>> {
  return {
    [VERSION_KEY]: MODERN_VERSION,
    [CAPABILITIES_KEY]: {},
    ...(clientInfo !== undefined && { [CLIENT_INFO_KEY]: clientInfo }),
  };
}

function isModern(
  result: Message['result'],
): result is NonNullable<Message['result']> & { supportedVersions: readonly unknown[] } {
  const versions = result?.['supportedVersions'];
  return Array.isArray(versions) && versions.includes(MODERN_VERSION);
}

function errorFrame(id: Id, error: NonNullable<Message['error']>): Frame {
  return frameOf({ jsonrpc: '2.0', id, error });
}
