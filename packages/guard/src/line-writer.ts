import type { Writable } from 'node:stream';

type Written = (isDelivered: boolean) => void;

interface LineWriterOptions {
  /** Called when the reader does not keep up; the stream emits `drain` later. */
  readonly onBlocked: () => void;
  /** The number of calls in flight: with several, more lines are about to arrive. Default: none. */
  readonly inFlight?: (() => number) | undefined;
}

/** With fewer calls in flight, a pause delays more than it collects. */
const MIN_IN_FLIGHT = 4;
/** The system adds about as much again. */
const PAUSE_MS = 0.05;
/** Pauses without effect after which there are none for a while. */
const MAX_CREDIT = 8;
/** Writes without a pause after which another one is tried. */
const RETRY_AFTER = 64;

/**
 * Writes the lines of one turn of the event loop at once: a write to a pipe takes longer than all other
 * work on a frame. With several calls in flight, the event loop pauses for a moment before it reads and
 * writes, like a network card that coalesces interrupts: otherwise each line of a server wakes the
 * guard, and each line of the guard wakes the client.
 */
export class LineWriter {
  readonly #stream: Writable;
  readonly #options: LineWriterOptions;
  #lines: string[] = [];
  #callbacks: Written[] = [];
  #isScheduled = false;

  constructor(stream: Writable, options: LineWriterOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  get size(): number {
    return this.#lines.length;
  }

  write(line: string, written?: Written): void {
    this.#lines.push(line);
    if (written) this.#callbacks.push(written);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    schedule(this, (this.#options.inFlight?.() ?? 0) >= MIN_IN_FLIGHT);
  }

  readonly flush = (): void => {
    this.#isScheduled = false;
    const lines = this.#lines;
    const callbacks = this.#callbacks;
    if (lines.length === 0) return;
    this.#lines = [];
    this.#callbacks = [];
    lines.push('');
    const done =
      callbacks.length === 0
        ? undefined
        : (error?: Error | null) => callbacks.forEach((written) => written(!error));
    if (!this.#stream.write(lines.join('\n'), done)) this.#options.onBlocked();
  };
}

/** The writers that have lines. One pause serves all of them. */
let due: LineWriter[] = [];
let mayPause = false;
let credit = MAX_CREDIT;
let skipped = 0;
let sizeBefore = 0;
const cell = new Int32Array(new SharedArrayBuffer(4));

function schedule(writer: LineWriter, isBusy: boolean): void {
  if (due.push(writer) === 1) {
    mayPause = isBusy;
    setImmediate(beforeFlush);
  } else if (isBusy) mayPause = true;
}

function beforeFlush(): void {
  if (!mayPause || !isWorthwhile()) return flushAll();
  sizeBefore = countLines();
  Atomics.wait(cell, 0, 0, PAUSE_MS);
  // After the next turn, which reads what has arrived.
  setImmediate(afterPause);
}

function afterPause(): void {
  credit = countLines() > sizeBefore ? MAX_CREDIT : credit - 1;
  flushAll();
}

/** Slow calls in flight say nothing about the next line: pauses that collect nothing are given up. */
function isWorthwhile(): boolean {
  if (credit > 0) return true;
  skipped++;
  if (skipped < RETRY_AFTER) return false;
  skipped = 0;
  credit = 1;
  return true;
}

function countLines(): number {
  let size = 0;
  for (const writer of due) size += writer.size;
  return size;
}

function flushAll(): void {
  const writers = due;
  due = [];
  mayPause = false;
  for (const writer of writers) writer.flush();
}
