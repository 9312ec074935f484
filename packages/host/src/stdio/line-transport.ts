import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { Deliveries } from '../call/deliveries.js';
import { idOfEnds } from './id-of-ends.js';
import { LineBuffer, MAX_LINE, type LineTaker } from './line-buffer.js';

/**
 * One JSON message a line, on a pair of streams. The SDK has such a transport, too. This one leaves
 * it to those who get a message to hold it against its schema, as they do anyway, and it listens for
 * errors once and not at every write: a fifth of what a quick call takes.
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
  }

  start(): Promise<void> {
    const stdin = this.#stdin;
    if (stdin.readableEnded || stdin.destroyed) setImmediate(this.#end);
    stdin.on('data', this.#read);
    stdin.on('error', this.#report);
    stdin.on('end', this.#end);
    stdin.on('close', this.#end);
    this.#stdout.off('error', swallow);
    this.#stdout.on('error', this.#fail);
    this.#stdout.on('drain', this.#drained);
    return DONE;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the connection is closed'));
    const line = `${JSON.stringify(message)}\n`;
    const writing = this.#beginWriting(message);
    const written =
      writing && ((error?: Error | null) => (error ? writing.fail : writing.confirm)());
    if (this.#stdout.write(line, written)) return DONE;
    return new Promise((resolve, reject) => {
      this.#undrained.push((error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    if (this.#isClosed) return DONE;
    this.#isClosed = true;
    const stdin = this.#stdin;
    stdin.off('data', this.#read);
    stdin.off('error', this.#report);
    stdin.off('end', this.#end);
    stdin.off('close', this.#end);
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

  readonly #read = (chunk: Buffer): void => this.#lines.add(chunk, this.#taker);

  readonly #deliver = (line: string): void => {
    const message = parsed(line);
    if (message === undefined) return;
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.#report(error as Error);
    }
  };

  /** Whoever sent it is told, and may go on. */
  readonly #refuse = (head: string, tail: string): void => {
    const message = `A request may have ${MAX_LINE} bytes.`;
    this.#report(new Error(`a message was too long: ${message}`));
    const answer = { jsonrpc: '2.0', id: idOfEnds(head, tail), error: { code: -32_000, message } };
    this.send(answer as JSONRPCMessage).catch(swallow);
  };

  readonly #taker: LineTaker = { line: this.#deliver, tooLong: this.#refuse };

  readonly #drained = (error?: Error): void => {
    for (const settle of this.#undrained.splice(0)) settle(error);
  };

  readonly #report = (error: Error): void => this.onerror?.(error);

  readonly #end = (): void => void this.close();

  readonly #fail = (error: Error): void => {
    this.#report(error);
    this.#end();
  };
}

const DONE = Promise.resolve();

function swallow(): void {
  // Nobody is left to be told.
}

/** What is no JSON is passed over, as the protocol's own implementations do. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
