import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import type { Deliveries } from '../call/deliveries.js';
import { parseInbound, type Refusal } from '../mcp/inbound.js';
import { idOfEnds } from './id-of-ends.js';
import { Intake } from './intake.js';
import { LineBuffer, MAX_LINE, type LineTaker } from './line-buffer.js';

/** How long held requests delay the end of a connection whose input has ended. */
const END_LIMIT_MS = 1000;
/** What an error that has to be sent counts while it is held. */
const REFUSAL_SIZE = 200;

/**
 * One JSON message a line, on a pair of streams. The transport of the SDK drops invalid messages without
 * an answer and reads on while its output is full. It also validates each message once more and
 * listens for errors at every write, which is a fifth of the time of a quick call.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #lines = new LineBuffer();
  readonly #onClosed: () => void;
  readonly #beginWriting: Deliveries['begin'];
  readonly #intake: Intake;
  #endTimer: NodeJS.Timeout | undefined;
  #undrained: ((error?: Error) => void)[] = [];
  #isClosed = false;

  /**
   * `onClosed` is told beside `onclose`, which the SDK keeps for itself; `beginWriting` of every message
   * that is written.
   */
  constructor(
    stdin: Readable,
    stdout: Writable,
    onClosed: () => void,
    beginWriting: Deliveries['begin'] = () => undefined,
  ) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#onClosed = onClosed;
    this.#beginWriting = beginWriting;
    this.#intake = new Intake(stdin);
  }

  start(): Promise<void> {
    const stdin = this.#stdin;
    if (stdin.readableEnded || stdin.destroyed) setImmediate(this.#inputEnded);
    stdin.on('data', this.#read);
    stdin.on('error', this.#report);
    stdin.on('end', this.#inputEnded);
    stdin.on('close', this.#inputEnded);
    this.#stdout.off('error', swallow);
    this.#stdout.on('error', this.#fail);
    this.#stdout.on('drain', this.#drained);
    return DONE;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the connection is closed'));
    if (!('method' in message)) this.#intake.answered();
    const line = `${JSON.stringify(message)}\n`;
    const writing = this.#beginWriting(message);
    const written =
      writing && ((error?: Error | null) => (error ? writing.fail : writing.confirm)());
    if (this.#stdout.write(line, written)) return DONE;
    this.#intake.block();
    return new Promise((resolve, reject) => {
      this.#undrained.push((error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    if (this.#isClosed) return DONE;
    this.#isClosed = true;
    this.#intake.close();
    clearTimeout(this.#endTimer);
    const stdin = this.#stdin;
    stdin.off('data', this.#read);
    stdin.off('error', this.#report);
    stdin.off('end', this.#inputEnded);
    stdin.off('close', this.#inputEnded);
    if (stdin.listenerCount('data') === 0) stdin.pause();
    // What is still on its way may fail later, and must not end the process.
    this.#stdout.on('error', swallow);
    this.#stdout.off('error', this.#fail);
    this.#stdout.off('drain', this.#drained);
    this.#drained(new Error('the connection was closed'));
    this.onclose?.();
    this.#onClosed();
    return DONE;
  }

  readonly #read = (chunk: Buffer): void => {
    this.#intake.beginChunk();
    this.#lines.add(chunk, this.#taker);
  };

  readonly #takeLine = (line: string): void => {
    const inbound = parseInbound(line);
    if (inbound.ok) {
      const { value } = inbound;
      if (!Array.isArray(value)) return this.#take(value, line.length);
      for (const message of value) this.#take(message, line.length / value.length);
    } else if (line.trim() !== '') {
      const { refusal, expectsAnswer, batchIds } = inbound;
      if (batchIds.length === 0) this.#refuse(refusal, expectsAnswer);
      for (const id of batchIds) this.#refuse({ ...refusal, id });
    }
  };

  /** Notifications and responses pass the requests that are held: calls in flight may need them. */
  #take(message: JSONRPCMessage, size: number): void {
    if ('method' in message && 'id' in message) {
      return this.#intake.add(message.id, this.#deliver, message, size);
    }
    const isCancellation = 'method' in message && message.method === 'notifications/cancelled';
    if (isCancellation && this.#intake.cancel(message.params?.['requestId'] as RequestId)) return;
    this.#deliver(message);
  }

  readonly #deliver = (message: JSONRPCMessage): void => {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.#report(error as Error);
    }
  };

  readonly #refuseLong = (head: string, tail: string): void => {
    const message = `A request may have ${MAX_LINE} bytes.`;
    this.#refuse({ jsonrpc: '2.0', id: idOfEnds(head, tail), error: { code: -32_000, message } });
  };

  #refuse(refusal: Refusal, expectsAnswer = true): void {
    this.#report(new Error(`refused a message: ${refusal.error.message}`));
    if (!expectsAnswer) return;
    this.#intake.add(undefined, this.#answer, refusal as JSONRPCMessage, REFUSAL_SIZE);
  }

  readonly #answer = (refusal: JSONRPCMessage): void => void this.send(refusal).catch(swallow);

  readonly #taker: LineTaker = { line: this.#takeLine, tooLong: this.#refuseLong };

  readonly #drained = (error?: Error): void => {
    for (const settle of this.#undrained.splice(0)) settle(error);
    this.#intake.unblock();
  };

  readonly #report = (error: Error): void => this.onerror?.(error);

  readonly #end = (): void => void this.close();

  /** Begins the requests that came before the end of the input, unless the output stays blocked. */
  readonly #inputEnded = (): void => {
    if (this.#intake.isEmpty) return this.#end();
    this.#intake.whenEmpty(this.#end);
    this.#endTimer ??= setTimeout(this.#end, END_LIMIT_MS);
  };

  readonly #fail = (error: Error): void => {
    this.#report(error);
    this.#end();
  };
}

const DONE = Promise.resolve();

function swallow(): void {
  // Nobody is left to be told.
}
