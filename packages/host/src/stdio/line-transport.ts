import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import type { Deliveries } from '../call/deliveries.js';
import { DirectConnection, type DirectCalls } from '../mcp/direct-calls.js';
import { parseInbound, type RefusalResponse } from '../mcp/inbound.js';
import { RequestQueue } from './request-queue.js';
import { findId, LineBuffer, MAX_LINE, type LineHandler } from './line-buffer.js';

/** How long queued requests delay the end of a connection whose input has ended. */
const END_LIMIT_MS = 1000;
/** The size of a queued error response. */
const REFUSAL_SIZE = 200;

/**
 * Newline-delimited JSON on a pair of streams. The SDK's transport drops invalid messages without a
 * response and has no backpressure. It also validates each message again and adds an error listener at
 * every write, which takes a fifth of the time of a quick call.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #lines = new LineBuffer();
  readonly #onClosed: () => void;
  readonly #beginWrite: Deliveries['begin'];
  readonly #queue: RequestQueue;
  readonly #direct: DirectConnection | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #blockedSends: ((error?: Error) => void)[] = [];
  #isClosed = false;

  /**
   * `onClosed` is called in addition to `onclose`, which the SDK sets; `beginWrite` is called for every
   * message that is written. `direct` executes plain tool calls; all other messages go to the SDK.
   */
  constructor(
    stdin: Readable,
    stdout: Writable,
    onClosed: () => void,
    beginWrite: Deliveries['begin'] = () => undefined,
    direct?: DirectCalls,
  ) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#onClosed = onClosed;
    this.#beginWrite = beginWrite;
    this.#queue = new RequestQueue(stdin);
    this.#direct = direct && new DirectConnection(direct, this.#respond);
  }

  start(): Promise<void> {
    const stdin = this.#stdin;
    if (stdin.readableEnded || stdin.destroyed) setImmediate(this.#onInputEnd);
    stdin.on('data', this.#read);
    stdin.on('error', this.#report);
    stdin.on('end', this.#onInputEnd);
    stdin.on('close', this.#onInputEnd);
    this.#stdout.off('error', ignoreError);
    this.#stdout.on('error', this.#fail);
    this.#stdout.on('drain', this.#onDrain);
    return DONE;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the connection is closed'));
    if (!('method' in message)) this.#queue.complete();
    this.#direct?.sent(message);
    const line = `${JSON.stringify(message)}\n`;
    const write = this.#beginWrite(message);
    const written = write && ((error?: Error | null) => (error ? write.fail : write.confirm)());
    if (this.#stdout.write(line, written)) return DONE;
    this.#queue.block();
    return new Promise((resolve, reject) => {
      this.#blockedSends.push((error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    if (this.#isClosed) return DONE;
    this.#isClosed = true;
    this.#queue.close();
    this.#direct?.close();
    clearTimeout(this.#endTimer);
    const stdin = this.#stdin;
    stdin.off('data', this.#read);
    stdin.off('error', this.#report);
    stdin.off('end', this.#onInputEnd);
    stdin.off('close', this.#onInputEnd);
    if (stdin.listenerCount('data') === 0) stdin.pause();
    // A pending write may still fail, and must not end the process.
    this.#stdout.on('error', ignoreError);
    this.#stdout.off('error', this.#fail);
    this.#stdout.off('drain', this.#onDrain);
    this.#onDrain(new Error('the connection was closed'));
    this.onclose?.();
    this.#onClosed();
    return DONE;
  }

  readonly #read = (chunk: Buffer): void => {
    this.#queue.beginChunk();
    this.#lines.add(chunk, this.#handler);
  };

  readonly #onLine = (line: string): void => {
    const inbound = parseInbound(line);
    if (inbound.ok) {
      const { value } = inbound;
      if (!Array.isArray(value)) return this.#accept(value, line.length);
      for (const message of value) this.#accept(message, line.length / value.length);
    } else if (line.trim() !== '') {
      const { refusal, expectsAnswer, batchIds } = inbound;
      if (batchIds.length === 0) this.#refuse(refusal, expectsAnswer);
      for (const id of batchIds) this.#refuse({ ...refusal, id });
    }
  };

  /** Notifications and responses overtake queued requests: calls in flight may need them. */
  #accept(message: JSONRPCMessage, size: number): void {
    if ('method' in message && 'id' in message) {
      return this.#queue.add(message.id, this.#deliver, message, size);
    }
    const isCancellation = 'method' in message && message.method === 'notifications/cancelled';
    if (isCancellation && this.#queue.cancel(message.params?.['requestId'] as RequestId)) return;
    this.#deliver(message);
  }

  readonly #deliver = (message: JSONRPCMessage): void => {
    try {
      if (this.#direct?.receive(message)) return;
      this.onmessage?.(message);
    } catch (error) {
      this.#report(error as Error);
    }
  };

  readonly #onLongLine = (head: string, tail: string): void => {
    const message = `The request exceeds ${MAX_LINE} bytes.`;
    this.#refuse({ jsonrpc: '2.0', id: findId(head, tail), error: { code: -32_000, message } });
  };

  #refuse(refusal: RefusalResponse, expectsAnswer = true): void {
    this.#report(new Error(`refused a message: ${refusal.error.message}`));
    if (!expectsAnswer) return;
    this.#queue.add(undefined, this.#respond, refusal as JSONRPCMessage, REFUSAL_SIZE);
  }

  readonly #respond = (response: JSONRPCMessage | undefined): void => {
    if (response) this.send(response).catch(ignoreError);
  };

  readonly #handler: LineHandler = { line: this.#onLine, tooLong: this.#onLongLine };

  readonly #onDrain = (error?: Error): void => {
    for (const settle of this.#blockedSends.splice(0)) settle(error);
    this.#queue.unblock();
  };

  readonly #report = (error: Error): void => this.onerror?.(error);

  readonly #end = (): void => void this.close();

  /** Starts the queued requests before it closes, unless the output stays blocked. */
  readonly #onInputEnd = (): void => {
    if (this.#queue.isEmpty) return this.#end();
    this.#queue.whenEmpty(this.#end);
    this.#endTimer ??= setTimeout(this.#end, END_LIMIT_MS);
  };

  readonly #fail = (error: Error): void => {
    this.#report(error);
    this.#end();
  };
}

const DONE = Promise.resolve();

function ignoreError(): void {
  // The connection is closed: there is no recipient for the error.
}
