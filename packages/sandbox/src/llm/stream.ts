import type { Exchange } from '../server/upstream.js';

export interface SseEvent {
  readonly event?: string;
  readonly data: unknown;
}

export interface StreamPlan {
  /** All events of a complete answer. */
  readonly events: readonly SseEvent[];
  /** How many of them come before the first content, and how many carry the finish mark at the end. */
  readonly head: number;
  readonly finish: number;
  /** The event that reports an overload inside a 200. */
  readonly error: SseEvent;
  /** Milliseconds between two events. */
  readonly pauseMs: number;
}

const COMMENT = ': keep-alive\n\n';
const COMMENT_EVERY_MS = 20;

const textOf = ({ event, data }: SseEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** The response with the events, broken as the drawn fault says. */
export function sseResponse(
  { events, head, finish, error, pauseMs }: StreamPlan,
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
): Response {
  const half = Math.max(head + 1, Math.floor(events.length / 2));
  const begun = events.slice(0, half).map(textOf);
  if (exchange.inject('llm-stall-mid-stream')) return live(begun, pauseMs, 'silence', headers);
  if (exchange.inject('llm-comments-mid-stream')) return live(begun, pauseMs, 'comments', headers);
  if (exchange.inject('llm-comments-only')) {
    return live(events.slice(0, head).map(textOf), pauseMs, 'comments', headers);
  }
  if (exchange.inject('llm-no-finish')) {
    return whole(events.slice(0, events.length - finish).map(textOf), headers);
  }
  if (exchange.inject('llm-error-event')) return whole([...begun, textOf(error)], headers);
  if (exchange.inject('llm-garbage-event')) {
    return whole([...begun, textOf({ ...error, data: '{"half":' })], headers);
  }
  const texts = events.map(textOf);
  return pauseMs > 0 ? live(texts, pauseMs, 'end', headers) : whole(texts, headers);
}

const whole = (texts: readonly string[], headers: Readonly<Record<string, string>>): Response =>
  new Response(texts.join(''), { headers: { ...headers, 'content-type': 'text/event-stream' } });

/** Sends the events one by one, then ends, falls silent or sends comments for ever. */
function live(
  texts: readonly string[],
  pauseMs: number,
  then: 'end' | 'silence' | 'comments',
  headers: Readonly<Record<string, string>>,
): Response {
  const encoder = new TextEncoder();
  let at = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const text = texts[at++];
        if (text !== undefined) {
          if (at > 1 && pauseMs > 0) await wait(pauseMs);
          controller.enqueue(encoder.encode(text));
        } else if (then === 'end') controller.close();
        else if (then === 'comments') {
          await wait(COMMENT_EVERY_MS);
          controller.enqueue(encoder.encode(COMMENT));
        } else await new Promise(() => {});
      },
    },
    // Nothing is produced ahead of the client, so a client that left costs no timers.
    { highWaterMark: 0 },
  );
  return new Response(stream, {
    headers: { ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
  });
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
