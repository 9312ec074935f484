import { Agent, request, type Dispatcher } from 'undici';
import type { AttemptIo } from '../core/provider.js';
import type { Clock } from '@toolkeel/kernel';
import { isObject, readBody, type Redactor } from '@toolkeel/pack-kit';
import { parseJson } from '../json.js';
import { badResponse, faultOfError, faultOfResponse } from './faults.js';
import { sseData } from './sse.js';

type Watch = Pick<AttemptIo, 'signal' | 'connected' | 'headers' | 'bytes'>;

const MAX_ERROR_BYTES = 256 * 1024;
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** The status says what failed; its details are not waited for longer. */
const ERROR_BODY_MS = 2_000;
/** A little more than the connect timeout, which fires first and has its own fault. */
const CONNECT_GRACE_MS = 1_000;

export interface Transport {
  /** A `fetch` for the SDK that reports every step of one attempt. */
  readonly fetchFor: (watch: Watch) => typeof fetch;
  readonly close: () => Promise<void>;
}

interface TransportOptions {
  readonly connectMs: number | undefined;
  readonly clock: Clock;
  readonly secrets: Redactor;
}

/**
 * The SDK's requests on our own connections: undici's timeouts are off because the attempt has its own
 * clocks, errors are typed where status and headers are still known, and the SDK only sees clean events.
 */
export function createTransport(options: TransportOptions): Transport {
  const { connectMs } = options;
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectMs === undefined ? 0 : connectMs + CONNECT_GRACE_MS },
  });
  return {
    fetchFor: (watch) => async (input, init) => {
      try {
        return await exchange(agent.compose(observing(watch)), watch, input, init, options);
      } catch (cause) {
        throw faultOfError(cause);
      }
    },
    close: () => agent.destroy(),
  };
}

async function exchange(
  dispatcher: Dispatcher,
  { signal }: Watch,
  input: string | URL | Request,
  init: RequestInit = {},
  { clock, secrets }: TransportOptions,
): Promise<Response> {
  const url = input instanceof Request ? input.url : input;
  const { statusCode, headers, body } = await request(url, {
    dispatcher,
    signal,
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(typeof init.body === 'string' && { body: init.body }),
  });
  const faultOf = (status: number, json: unknown) =>
    faultOfResponse({ status, headers, body: json }, clock.wallNow(), secrets);
  if (statusCode < 200 || statusCode >= 300) {
    const timer = clock.setTimer(ERROR_BODY_MS, () => body.destroy());
    const text = await readBody(body, headers, MAX_ERROR_BYTES).catch(() => '');
    clock.clearTimer(timer);
    throw faultOf(statusCode, parseJson(String(text)));
  }
  if (String(headers['content-type']).startsWith('text/event-stream')) {
    return new Response(streamOf(cleanEvents(body, faultOf)), {
      status: statusCode,
      headers: { 'content-type': 'text/event-stream', ...requestIdOf(headers) },
    });
  }
  const text = String(await readBody(body, headers, MAX_BODY_BYTES));
  const json = parseJson(text);
  if (!isObject(json)) throw badResponse('Gemini returned a body that is not JSON');
  const status = errorStatus(json);
  if (status !== undefined) throw faultOf(status, json);
  return new Response(text, {
    status: statusCode,
    headers: { 'content-type': 'application/json', ...requestIdOf(headers) },
  });
}

function requestIdOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const id = headers['x-request-id'];
  return typeof id === 'string' ? { 'x-request-id': id } : {};
}

/** Validated events: JSON objects that report no error. */
async function* cleanEvents(
  body: AsyncIterable<Uint8Array>,
  faultOf: (status: number, error: unknown) => Error,
): AsyncGenerator<string, void, void> {
  try {
    for await (const data of sseData(body)) {
      const json = parseJson(data);
      if (!isObject(json)) throw badResponse('Gemini sent an event that is not JSON');
      const status = errorStatus(json);
      if (status !== undefined) throw faultOf(status, json);
      yield data;
    }
  } catch (cause) {
    throw faultOfError(cause);
  }
}

/** The status of an error that came with HTTP 200. One without a valid status is a failed server. */
function errorStatus(json: Readonly<Record<string, unknown>>): number | undefined {
  const error = json['error'];
  if (!isObject(error)) return undefined;
  const code = error['code'];
  return typeof code === 'number' && code >= 400 && code <= 599 ? code : 500;
}

/** One event per chunk, in the form that the SDK's parser expects. */
function streamOf(events: AsyncGenerator<string, void, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await events.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`data: ${value.replaceAll('\n', ' ')}\n\n`));
      } catch (cause) {
        controller.error(cause);
      }
    },
    cancel: async () => {
      await events.return();
    },
  });
}

/** Reports the steps of a request: `onRequestStart` runs when its connection is established. */
function observing(watch: Watch): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => {
        watch.connected();
        handler.onRequestStart?.(controller, context);
      },
      onResponseStart: (controller, status, headers, message) => {
        // An error is no beginning of an answer.
        if (status >= 200 && status < 300) watch.headers();
        handler.onResponseStart?.(controller, status, headers, message);
      },
      onResponseData: (controller, chunk) => {
        watch.bytes(chunk.length);
        handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
}
