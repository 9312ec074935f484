import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerOf } from '@toolkeel/host/parts';
import { isRequest, isResponse, type Frame, type Id } from './frame.js';
import { LAG_MS, refuse } from './http.js';
import type { Route } from './route.js';
import type { Client } from './session-options.js';
import { SseStream } from './sse.js';

interface LegacyOptions {
  readonly open: (client: Client) => Route;
  readonly maxSessions: number;
  readonly idleMs: number;
}

/** How long a response may take before its stream is opened. */
const OPEN_AFTER_MS = 40;
export const LEGACY_VERSIONS: ReadonlySet<string> = new Set([
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
]);

export function isLegacyVersion(version: string): boolean {
  return LEGACY_VERSIONS.has(version);
}

/** Serves the revisions with sessions: each session has an upstream of its own. */
export class LegacyRoute {
  readonly #options: LegacyOptions;
  readonly #sessions = new Map<string, HttpSession>();

  constructor(options: LegacyOptions) {
    this.#options = options;
  }

  handle(incoming: IncomingMessage, response: ServerResponse, frame: Frame | undefined): void {
    const version = headerOf(incoming, 'mcp-protocol-version');
    if (version !== undefined && !isLegacyVersion(version)) {
      return refuse(response, 400, -32_000, 'Bad Request: unsupported protocol version');
    }
    const id = headerOf(incoming, 'mcp-session-id');
    if (id === undefined) {
      if (frame?.message.method === 'initialize') return this.#initialize(response, frame);
      return refuse(response, 400, -32_000, 'Bad Request: the header Mcp-Session-Id is required');
    }
    const session = this.#sessions.get(id);
    if (!session) return refuse(response, 404, -32_001, 'Session not found');
    session.lastUsed = performance.now();
    if (incoming.method === 'DELETE') {
      this.#sessions.delete(id);
      void session.close();
      return void response.writeHead(200).end();
    }
    if (!frame) return session.listen(incoming, response);
    response.setHeader('mcp-session-id', id);
    return session.post(frame, response);
  }

  #initialize(response: ServerResponse, frame: Frame): void {
    this.#evict();
    if (this.#sessions.size >= this.#options.maxSessions) {
      response.setHeader('retry-after', '1');
      return refuse(response, 503, -32_000, 'All sessions are in use. Try again in a moment.');
    }
    const id = randomUUID();
    const session = new HttpSession(this.#options.open, () => {
      this.#sessions.delete(id);
      void session.close();
    });
    this.#sessions.set(id, session);
    response.setHeader('mcp-session-id', id);
    session.post(frame, response);
  }

  /** Ends sessions that were not used for a while, with their children. */
  #evict(): void {
    const { idleMs } = this.#options;
    for (const [id, session] of this.#sessions) {
      if (session.isBusy || performance.now() - session.lastUsed < idleMs) continue;
      this.#sessions.delete(id);
      void session.close();
    }
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }
}

/** How many frames without a stream to send them on are kept. */
const MAX_BUFFERED = 100;
/** How many finished streams can be continued, and how much of them is kept. */
const MAX_FINISHED = 100;
const MAX_FINISHED_BYTES = 64 * 1024 * 1024;

class HttpSession {
  readonly #session: Route;
  /** By the id of the request. */
  readonly #streams = new Map<Id, SseStream>();
  readonly #byStreamId = new Map<string, SseStream>();
  readonly #finished: SseStream[] = [];
  #standalone: SseStream | undefined;
  #buffered: Frame[] = [];
  #initializeId: Id | undefined;
  readonly #onFailed: () => void;
  #streamCount = 0;
  lastUsed = performance.now();

  constructor(open: LegacyOptions['open'], onFailed: () => void) {
    this.#onFailed = onFailed;
    this.#session = open({
      send: (frame, written) => this.#send(frame, written),
      pause: () => {},
      resume: () => {},
      lagMs: LAG_MS,
    });
  }

  get isBusy(): boolean {
    return this.#streams.size > 0 || this.#standalone?.isAttached === true;
  }

  post(frame: Frame, response: ServerResponse): void {
    if (!isRequest(frame)) {
      this.#session.receive(frame);
      return void response.writeHead(202).end();
    }
    const { id, method } = frame.message;
    if (method === 'initialize') this.#initializeId = id;
    if (this.#streams.has(id)) {
      return refuse(response, 400, -32_600, 'Invalid Request: this id is in flight', id);
    }
    const stream = this.#addStream();
    this.#streams.set(id, stream);
    stream.attach(response);
    const timer = setTimeout(() => stream.open(), OPEN_AFTER_MS).unref();
    response.on('close', () => {
      clearTimeout(timer);
      // Closing the connection is no cancellation in these revisions, but a repeat may follow.
      if (!stream.isEnded) this.#session.detach(id);
    });
    this.#session.receive(frame);
  }

  /** The stream for messages that belong to no request, or the rest of a stream that was cut. */
  listen(incoming: IncomingMessage, response: ServerResponse): void {
    const last = headerOf(incoming, 'last-event-id');
    const [, streamId, sequence] = /^(\d+)_(\d+)$/.exec(last ?? '') ?? [];
    const cut = streamId === undefined ? undefined : this.#byStreamId.get(streamId);
    if (cut) return cut.attach(response, Number(sequence) || Number.MIN_VALUE);
    if (this.#standalone?.isAttached) {
      return refuse(response, 409, -32_000, 'Conflict: this session has a stream already');
    }
    // A client that opens a new stream does not continue the one before.
    if (this.#standalone) this.#byStreamId.delete(this.#standalone.id);
    const stream = this.#addStream();
    this.#standalone = stream;
    stream.attach(response);
    stream.open();
    for (const frame of this.#buffered.splice(0)) stream.send(frame);
  }

  #addStream(): SseStream {
    const stream = new SseStream(String(++this.#streamCount), true);
    this.#byStreamId.set(stream.id, stream);
    return stream;
  }

  #send(frame: Frame, written?: (isDelivered: boolean) => void): void {
    if (!isResponse(frame)) return this.#sendUnrelated(frame);
    const { id, error } = frame.message;
    const stream = this.#streams.get(id);
    if (!stream) return written?.(false);
    this.#streams.delete(id);
    stream.end(frame, 200, written);
    this.#finished.push(stream);
    this.#forgetFinished();
    if (error && id === this.#initializeId) this.#onFailed();
  }

  #forgetFinished(): void {
    let size = this.#finished.reduce((sum, stream) => sum + stream.size, 0);
    while (this.#finished.length > MAX_FINISHED || size > MAX_FINISHED_BYTES) {
      const oldest = this.#finished.shift()!;
      size -= oldest.size;
      this.#byStreamId.delete(oldest.id);
    }
  }

  /** On stdio a message does not say which request it belongs to. */
  #sendUnrelated(frame: Frame): void {
    const attached = [...this.#streams.values()].filter((one) => one.isAttached);
    const only = attached.length === 1 ? attached[0] : undefined;
    const listening = this.#standalone?.isAttached ? this.#standalone : undefined;
    const stream = only ?? listening ?? attached.at(-1);
    if (stream) return stream.send(frame);
    this.#buffered.push(frame);
    if (this.#buffered.length > MAX_BUFFERED) this.#buffered.shift();
  }

  async close(): Promise<void> {
    for (const stream of this.#byStreamId.values()) stream.close();
    await this.#session.close();
  }
}
