import type { Writable } from 'node:stream';

type Written = (isDelivered: boolean) => void;

/** Lines per write. With more, the reader is idle for longer than the additional writes take. */
const MAX_LINES = 5;

/**
 * Writes the lines of one turn of the event loop together: a write to a pipe takes longer than all other
 * work on a frame.
 */
export class LineWriter {
  readonly #stream: Writable;
  readonly #onBlocked: () => void;
  #lines: string[] = [];
  #callbacks: Written[] = [];
  #isScheduled = false;

  /** `onBlocked` is called when the reader does not keep up; the stream emits `drain` later. */
  constructor(stream: Writable, onBlocked: () => void) {
    this.#stream = stream;
    this.#onBlocked = onBlocked;
  }

  write(line: string, written?: Written): void {
    this.#lines.push(line);
    if (written) this.#callbacks.push(written);
    if (this.#lines.length === MAX_LINES) return this.#write();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.flush);
  }

  readonly flush = (): void => {
    this.#isScheduled = false;
    this.#write();
  };

  #write(): void {
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
    if (!this.#stream.write(lines.join('\n'), done)) this.#onBlocked();
  }
}
