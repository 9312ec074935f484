import type { ConsoleEvent } from '@toolkeel/console';
import type { HostLog } from '../log/log.js';

/** A position in the stream: the last call, and the last audit row. */
export interface Position {
  readonly calls: number;
  readonly audit: number;
}

export function toCursor({ calls, audit }: Position): string {
  return `${calls}.${audit}`;
}

export function fromCursor(cursor: string): Position | undefined {
  const [, calls, audit] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  return calls === undefined ? undefined : { calls: Number(calls), audit: Number(audit) };
}

/** What one open page has been sent. */
export interface Subscriber {
  position: Position;
  /** The last state that was sent, by event type: only changes are sent. */
  readonly sent: Map<ConsoleEvent['type'], string>;
  readonly send: (event: ConsoleEvent) => void;
}

export interface StreamOptions {
  /** Sends a subscriber what it has not received yet. */
  readonly update: (subscriber: Subscriber) => Promise<void>;
  readonly scrub: (text: string) => string;
  readonly log: HostLog;
}

const TICK_MS = 1000;
const BEAT_MS = 2000;
const MAX_STREAMS = 50;
/** A page that does not read is disconnected; it catches up when it connects again. */
const MAX_BUFFERED = 4 * 1024 * 1024;

/** Streams events to all open pages. Reads the journal only while there is one. */
export class EventStreams {
  readonly #options: StreamOptions;
  readonly #ends = new Set<(event?: ConsoleEvent) => void>();

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#ends.size >= MAX_STREAMS;
  }

  /** `onSignedOut` registers what ends the stream with its session. */
  open(position: Position | undefined, onSignedOut: (end: () => void) => () => void): Response {
    const encoder = new TextEncoder();
    let end: (event?: ConsoleEvent) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const subscriber: Subscriber = {
            position: position ?? { calls: 0, audit: 0 },
            sent: new Map(),
            send: ({ type, data }) => {
              if (!this.#ends.has(end)) return;
              const id = toCursor(subscriber.position);
              const text = `id: ${id}\nevent: ${type}\ndata: ${this.#options.scrub(JSON.stringify(data))}\n\n`;
              controller.enqueue(encoder.encode(text));
            },
          };
          const release = onSignedOut(() =>
            end({ type: 'signed_out', data: { reason: 'The session has ended.' } }),
          );
          const stop = this.#run(
            subscriber,
            () => (controller.desiredSize ?? 0) <= -MAX_BUFFERED,
            () => end(),
          );
          end = (event) => {
            if (!this.#ends.has(end)) return;
            stop();
            release();
            try {
              if (event) subscriber.send(event);
              this.#ends.delete(end);
              controller.close();
            } catch {
              // The page has disconnected already.
              this.#ends.delete(end);
            }
          };
          this.#ends.add(end);
        },
        cancel: () => end(),
      },
      { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    return new Response(body, {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        // Reverse proxies would hold events back.
        'x-accel-buffering': 'no',
      },
    });
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  #run(subscriber: Subscriber, isStalled: () => boolean, end: () => void): () => void {
    const { update, log } = this.#options;
    let isStopped = false;
    let timer: NodeJS.Timeout | undefined;
    const beat = (): void => {
      if (isStalled()) end();
      else subscriber.send({ type: 'beat', data: { at: new Date().toISOString() } });
    };
    const beats = setInterval(beat, BEAT_MS).unref();
    const tick = async (): Promise<void> => {
      try {
        if (!isStalled()) await update(subscriber);
      } catch (cause) {
        // Without the journal the page must not look healthy: it connects again and sees the error.
        log('warn', 'console_events_failed', { cause });
        end();
      }
      if (!isStopped) timer = setTimeout(() => void tick(), TICK_MS).unref();
    };
    // Once the stream is started: the first events follow the headers.
    setImmediate(() => {
      if (isStopped) return;
      beat();
      void tick();
    });
    return () => {
      isStopped = true;
      clearInterval(beats);
      clearTimeout(timer);
    };
  }
}
