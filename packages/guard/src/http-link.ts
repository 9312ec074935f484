import { classifyError, FaultError, faultFromResponse, type Fault } from '@toolkeel/kernel';
import type { HostLog } from '@toolkeel/host';
import { Agent, request, type Dispatcher } from 'undici';
import { shortened } from './child-link.js';
import {
  isObject,
  isRequest,
  objectIn,
  oneLine,
  parseLine,
  type Frame,
  type Id,
  type RequestFrame,
} from './frame.js';
import { headerText } from './http.js';
import { responseIn, sessionAfter } from './http-refusal.js';
import { SessionEnded, type Connect, type LinkEvents } from './link.js';

export interface HttpLinkOptions {
  readonly name: string;
  readonly url: string;
  /** Credentials and other headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly log: HostLog;
  /** Redacts the secrets of its connection. */
  readonly scrub: (text: string) => string;
  /** The input schema of a tool: it may declare arguments that are repeated as headers. */
  readonly schemaOf: (tool: string) => Readonly<Record<string, unknown>> | undefined;
}

const META = 'io.modelcontextprotocol/';
/** The largest response. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const CONNECT_MS = 10_000;
const RESUME_MS = 1000;
const MAX_RESUMES = 100;
const END_MS = 1000;

/** Connects to a server on Streamable HTTP. Each frame is a request of its own. */
export function httpLink(options: HttpLinkOptions): Connect {
  return (events) => new HttpLink(options, events).link();
}

const FORGOTTEN = 'has forgotten the session';

type Response = Dispatcher.ResponseData;

class HttpLink {
  readonly #options: HttpLinkOptions;
  readonly #events: LinkEvents;
  readonly #inFlight = new Map<Id | symbol, AbortController>();
  readonly #agent = agentOf(undefined);
  /** Without kept-alive connections: a stale one would leave the outcome of a mutation unknown. */
  readonly #fresh = agentOf(0);
  #sessionId: string | undefined;
  #version: string | undefined;
  #initializing: Promise<void> | undefined;
  #listening: AbortController | undefined;
  /** The client does not read: streams are not read either. */
  #paused: { readonly ended: Promise<void>; readonly end: () => void } | undefined;
  #isForgotten = false;
  #isClosed = false;

  constructor(options: HttpLinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  link(): ReturnType<Connect> {
    return {
      send: (frame, isMutation) => this.#send(frame, isMutation === true),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
      close: () => this.#close(),
    };
  }

  #pause(): void {
    if (this.#paused || this.#isClosed) return;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#paused = { ended, end };
  }

  #resume(): void {
    this.#paused?.end();
    this.#paused = undefined;
  }

  #send(frame: Frame, isMutation: boolean): void {
    if (this.#isClosed || this.#isForgotten) throw new Error('the session has ended');
    const { method, params } = frame.message;
    const requestId = params?.['requestId'] as Id;
    // Without sessions, closing the connection is the cancellation.
    if (method === 'notifications/cancelled' && this.#sessionId === undefined) {
      return this.#inFlight.get(requestId)?.abort();
    }
    const key = isRequest(frame) ? frame.message.id : Symbol('notification');
    const controller = new AbortController();
    this.#inFlight.set(key, controller);
    const exchange = async (): Promise<void> => {
      // Requests that a client sends together with its handshake need the session.
      if (method !== 'initialize') await this.#initializing;
      await this.#post(frame, isMutation, controller.signal);
    };
    const done = exchange()
      .catch((cause: unknown) => {
        if (controller.signal.aborted && this.#isClosed) return;
        if (isRequest(frame)) this.#events.onFailed(frame.message.id, faultOf(cause));
      })
      .finally(() => {
        this.#inFlight.delete(key);
        if (this.#isForgotten) this.#end();
      });
    if (method === 'initialize') this.#initializing = done;
    if (method === 'notifications/initialized') void done.then(() => this.#listen());
  }

  async #post(frame: Frame, isMutation: boolean, signal: AbortSignal): Promise<void> {
    const hasSession = this.#sessionId !== undefined;
    const response = await request(this.#options.url, {
      method: 'POST',
      headers: {
        ...this.#headers(),
        ...this.#modernHeaders(frame),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: frame.line,
      signal,
      dispatcher: isMutation ? this.#fresh : this.#agent,
    });
    const { statusCode } = response;
    const sessionId = headerOf(response, 'mcp-session-id');
    if (sessionId !== undefined) this.#sessionId = sessionId;
    if (!isRequest(frame)) return response.body.dump();
    if (statusCode >= 400) return this.#refused(frame, { isMutation, hasSession }, response);
    const { id } = frame.message;
    if (isEventStream(response)) return this.#readEvents(response, id, signal);
    const text = await readText(response, MAX_BYTES);
    // Such as an empty 202: the server has the request, and nothing else is known.
    if (text.trim() === '') throw new FaultError({ kind: 'network', sent: 'maybe' });
    if (!this.#deliver(text, id)) throw new FaultError({ kind: 'bad_response', sent: 'answered' });
  }

  /** An error status. Its body may be the response to the request. `hasSession`: of the request. */
  async #refused(
    { message: { id, method } }: RequestFrame,
    { isMutation, hasSession }: { readonly isMutation: boolean; readonly hasSession: boolean },
    response: Response,
  ): Promise<void> {
    const { statusCode: status, headers } = response;
    const body = await readText(response, MAX_ERROR_BYTES);
    const isTransient = status === 429 || status >= 500;
    const answer = responseIn(body, id);
    if (answer && hasSession && sessionAfter(status, body) !== 'open') {
      // It may mean the session, which is replaced. Only a read is sent again.
      this.#forget();
      this.#listening?.abort();
      const cause = method === 'tools/call' ? answer : new SessionEnded(`the server ${FORGOTTEN}`);
      if (!isMutation) throw new FaultError({ kind: 'connect', sent: 'no', cause });
    }
    if (answer) {
      const isRepeated = isTransient && method === 'tools/call' && !isMutation;
      if (!isRepeated) return void this.#deliver(body, id);
      // The caller gets it if no further attempt succeeds.
      const fault = faultFromResponse({ status, headers, body }, Date.now());
      throw new FaultError({ ...fault, cause: answer });
    }
    const session = hasSession ? sessionAfter(status, body) : 'open';
    if (session !== 'open') {
      this.#forget();
      // The server may keep the stream of a session open that it has forgotten.
      this.#listening?.abort();
      const cause = new SessionEnded(`the server ${FORGOTTEN}`);
      const isDoubtful = isMutation && session === 'doubtful';
      if (isDoubtful) throw new FaultError({ kind: 'network', sent: 'maybe', final: true, cause });
      throw new FaultError({ kind: 'connect', sent: 'no', cause });
    }
    if (!isTransient) this.#deliver(body, undefined);
    throw new FaultError(faultFromResponse({ status, headers, body }, Date.now()));
  }

  /** Passes frames on. True if the response to the request was among them. */
  #deliver(text: string, id: Id | undefined): boolean {
    const frames = parseLine(oneLine(text));
    if (!frames) {
      const { log, scrub } = this.#options;
      log('warn', 'upstream_stray_line', { text: shortened(text, scrub) });
      return false;
    }
    let isAnswered = false;
    for (const frame of frames) {
      const { message } = frame;
      if (id !== undefined && message.method === undefined && message.id === id) isAnswered = true;
      const version = objectIn({ result: message.result }, 'result')['protocolVersion'];
      if (typeof version === 'string') this.#version = version;
      this.#events.onFrame(frame);
    }
    return isAnswered;
  }

  /** Reads a stream until the response to the request; continues it if the server has cut it. */
  async #readEvents(first: Response, id: Id | undefined, signal: AbortSignal): Promise<void> {
    let response = first;
    let last: string | undefined;
    for (let round = 0; ; round++) {
      let retryMs = RESUME_MS;
      for await (const event of eventsOf(response.body as AsyncIterable<Buffer>)) {
        if (event.id !== undefined) last = event.id;
        if (event.retryMs !== undefined) retryMs = event.retryMs;
        if (event.data !== '' && this.#deliver(event.data, id))
          return response.body.destroy() && undefined;
        // Then the server has to wait as well: nothing more is read.
        if (this.#paused) await this.#paused.ended;
      }
      // Without event ids the rest of the stream is lost.
      if (last === undefined || round >= MAX_RESUMES || this.#isClosed) break;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      response = await this.#get(signal, last);
      if (!isEventStream(response)) break;
    }
    if (id !== undefined) throw new FaultError({ kind: 'network', sent: 'maybe' });
  }

  /** Opens the stream for messages that belong to no request; servers need not have one. */
  async #listen(): Promise<void> {
    if (this.#sessionId === undefined) return;
    const controller = new AbortController();
    const key = Symbol('listen');
    this.#inFlight.set(key, controller);
    this.#listening = controller;
    try {
      const response = await this.#get(controller.signal, undefined);
      if (isEventStream(response)) await this.#readEvents(response, undefined, controller.signal);
      else await response.body.dump();
    } catch {
      // Requests still work, and report that the server is gone.
    } finally {
      this.#inFlight.delete(key);
      if (this.#isForgotten) this.#end();
    }
  }

  #get(signal: AbortSignal, last: string | undefined): Promise<Response> {
    const resumed = last === undefined ? {} : { 'last-event-id': last };
    return request(this.#options.url, {
      method: 'GET',
      headers: { ...this.#headers(), ...resumed, accept: 'text/event-stream' },
      signal,
      dispatcher: this.#agent,
    });
  }

  #headers(): Record<string, string> {
    return {
      ...this.#options.headers,
      ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
    };
  }

  /** Revision 2026-07-28 repeats parts of the body as headers. */
  #modernHeaders({ message }: Frame): Record<string, string> {
    const { method = '', params } = message;
    const version = objectIn(params, '_meta')[`${META}protocolVersion`];
    if (typeof version !== 'string') return {};
    const name = params?.[method === 'resources/read' ? 'uri' : 'name'];
    const headers: Record<string, string> = {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': encodeHeader(name) }),
    };
    if (method !== 'tools/call' || typeof name !== 'string') return headers;
    const args = objectIn(params, 'arguments');
    for (const [argument, property] of Object.entries(
      objectIn(this.#options.schemaOf(name), 'properties'),
    )) {
      const header = isObject(property) ? property['x-mcp-header'] : undefined;
      const value = args[argument];
      if (typeof header !== 'string' || value === undefined || value === null) continue;
      headers[`mcp-param-${header.toLowerCase()}`] = encodeHeader(headerText(value));
    }
    return headers;
  }

  /** New requests need another session; those in flight may still be answered. */
  #forget(): void {
    if (this.#isForgotten || this.#isClosed) return;
    this.#isForgotten = true;
    this.#events.onRetired(FORGOTTEN);
  }

  #end(): void {
    if (this.#isClosed || this.#inFlight.size > 0) return;
    this.#isClosed = true;
    this.#events.onClosed(FORGOTTEN);
    void this.#destroy();
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#resume();
    for (const controller of this.#inFlight.values()) controller.abort();
    if (this.#sessionId !== undefined) {
      const signal = AbortSignal.timeout(END_MS);
      await request(this.#options.url, {
        method: 'DELETE',
        headers: this.#headers(),
        signal,
        dispatcher: this.#agent,
      }).then(
        ({ body }) => body.dump(),
        () => {},
      );
    }
    await this.#destroy();
    this.#events.onClosed('was closed');
  }

  async #destroy(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#fresh.destroy()]);
  }
}

function agentOf(pipelining: number | undefined): Agent {
  return new Agent({
    connect: { timeout: CONNECT_MS },
    // Calls have their own timeouts, and streams may be silent for long.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(pipelining !== undefined && { pipelining }),
  });
}

function faultOf(cause: unknown): Fault {
  return cause instanceof FaultError ? cause.fault : classifyError(cause);
}

function headerOf({ headers }: Response, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function isEventStream(response: Response): boolean {
  const type = headerOf(response, 'content-type') ?? '';
  return response.statusCode === 200 && type.startsWith('text/event-stream');
}

async function readText({ body }: Response, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      throw new FaultError({ kind: 'bad_response', sent: 'answered', final: true });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface ServerEvent {
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
  readonly data: string;
}

const EVENT_END = /\r\n\r\n|\n\n|\r\r/;

/** Parses server-sent events. A large event is put together once, however many chunks it comes in. */
export async function* eventsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let size = 0;
  // The end of an event may be cut in two.
  let tail = '';
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    parts.push(text);
    size += text.length;
    if (size > MAX_BYTES) {
      throw new FaultError({ kind: 'bad_response', sent: 'answered', final: true });
    }
    const isEnded = EVENT_END.test(tail + text);
    tail = (tail + text).slice(-3);
    if (!isEnded) continue;
    const blocks = parts.join('').split(EVENT_END);
    const rest = blocks.pop() ?? '';
    [parts, size, tail] = [[rest], rest.length, rest.slice(-3)];
    for (const block of blocks) yield parseEvent(block);
  }
}

function parseEvent(block: string): ServerEvent {
  let id: string | undefined;
  let retryMs: number | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const at = line.indexOf(':');
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'id') id = value;
    else if (name === 'retry' && /^\d{1,6}$/.test(value)) retryMs = Number(value);
  }
  return { id, retryMs, data: data.join('\n') };
}

function encodeHeader(value: string): string {
  const isPlain =
    /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?');
  return isPlain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
