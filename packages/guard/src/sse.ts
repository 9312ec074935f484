import type { ServerResponse } from 'node:http';
import { responseFinished, WriteQueue } from '@toolkeel/host/parts';
import type { Frame } from './frame.js';

type Written = (isDelivered: boolean) => void;

interface SseEvent {
  readonly sequence: number;
  readonly line: string;
  written: Written | undefined;
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;
const KEEP_ALIVE_MS = 15_000;
const MAX_EVENTS = 1000;
/** How much a client may be behind: its connection is cut then, and events are dropped, oldest first. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** What a client waits before it fetches the rest of a stream that was cut. */
const RETRY_MS = 1000;
const writes = new WriteQueue();

/**
 * The frames of one response. It is sent as JSON if it consists of a single response; otherwise as server-sent
 * events, which a client of revision 2025-11-25 can continue on another connection.
 */
export class SseStream {
  readonly id: string;
  readonly #isResumable: boolean;
  #response: ServerResponse | undefined;
  #keepAlive: NodeJS.Timeout | undefined;
  #events: SseEvent[] = [];
  /** Of the events that are kept. */
  size = 0;
  #sequence = 0;
  #isOpen = false;
  isEnded = false;

  constructor(id: string, isResumable: boolean) {
    this.id = id;
    this.#isResumable = isResumable;
  }

  get isAttached(): boolean {
    return this.#response !== undefined;
  }

  /** Continues on this connection after an event; 0 for a new stream. */
  attach(response: ServerResponse, after = 0): void {
    this.#response = response;
    response.on('close', () => {
      if (this.#response !== response) return;
      this.#response = undefined;
      clearInterval(this.#keepAlive);
    });
    if (after === 0) return;
    this.open();
    for (const event of this.#events) if (event.sequence > after) this.#write(event);
    if (this.isEnded) this.#finish();
  }

  /** Sends the headers, and thereby decides for events. */
  open(): void {
    const response = this.#response;
    this.#isOpen = true;
    if (!response || response.headersSent) return;
    response.writeHead(200, HEADERS);
    if (this.#isResumable) response.write(`id: ${this.id}_0\nretry: ${RETRY_MS}\ndata: \n\n`);
    else response.write(': open\n\n');
    this.#keepAlive = setInterval(() => response.write(': keep-alive\n\n'), KEEP_ALIVE_MS).unref();
  }

  send({ line }: Frame, written?: Written): void {
    const event = { sequence: ++this.#sequence, line, written };
    if (this.#isResumable) {
      this.#keep(event);
    }
    this.open();
    this.#write(event);
  }

  #keep(event: SseEvent): void {
    this.#events.push(event);
    this.size += event.line.length;
    while (this.#events.length > 1) {
      if (this.#events.length <= MAX_EVENTS && this.size <= MAX_UNREAD_BYTES) return;
      const oldest = this.#events.shift()!;
      this.size -= oldest.line.length;
      settle(oldest, false);
    }
  }

  /** The last frame: the response to the request. `status` applies only if nothing was sent before. */
  end(frame: Frame, status: number, written?: Written): void {
    this.isEnded = true;
    const response = this.#response;
    if (this.#isOpen || !response) {
      this.send(frame, written);
      return this.#finish();
    }
    const { line: body } = frame;
    const length = Buffer.byteLength(body);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': length });
    writes.add({ outgoing: response, body, onWrite: written && watchDelivery(response, written) });
  }

  /** Ends the stream without a response. */
  close(): void {
    this.isEnded = true;
    this.open();
    this.#finish();
    for (const event of this.#events.splice(0)) settle(event, false);
    this.size = 0;
  }

  #finish(): void {
    clearInterval(this.#keepAlive);
    this.#response?.end();
  }

  #write(event: SseEvent): void {
    const response = this.#response;
    if (response && response.writableLength > MAX_UNREAD_BYTES) {
      // It can fetch what it has missed, where the revision allows it.
      response.destroy();
      return this.#isResumable ? undefined : settle(event, false);
    }
    if (!response) return this.#isResumable ? undefined : settle(event, false);
    const id = this.#isResumable ? `id: ${this.id}_${event.sequence}\n` : '';
    const data = event.line.includes('\n') ? event.line.replaceAll('\n', '\ndata: ') : event.line;
    response.write(`event: message\n${id}data: ${data}\n\n`, (error) => {
      if (!error) settle(event, true);
      else if (!this.#isResumable) settle(event, false);
    });
  }
}

function settle(event: SseEvent, isDelivered: boolean): void {
  const { written } = event;
  event.written = undefined;
  written?.(isDelivered);
}

function watchDelivery(response: ServerResponse, written: Written): () => void {
  return () => {
    responseFinished(response).then(
      () => written(true),
      () => written(false),
    );
  };
}
