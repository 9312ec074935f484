const NEWLINE = 0x0a;
/** More than any message should have; without an end, a client could fill the memory. */
export const MAX_LINE: number = 10 * 1024 * 1024;
/** What is kept of a line that is too long. */
const KEPT = 1024;

/** Takes what a stream of lines holds. */
export interface LineTaker {
  readonly line: (text: string) => void;
  /** One that was too long to be kept: how it began, and how it ended. */
  readonly tooLong: (head: string, tail: string) => void;
}

/** Cuts a stream of bytes into lines. */
export class LineBuffer {
  #begun: Buffer[] = [];
  #length = 0;
  /** The beginning of a line of which only the ends are kept. Its end is in `#begun`. */
  #head: Buffer | undefined;

  /** Gives the lines that this chunk ends. */
  add(chunk: Buffer, take: LineTaker): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#complete(chunk, from, at, take);
      from = at + 1;
    }
    if (from === chunk.length) return;
    this.#begun.push(from === 0 ? chunk : chunk.subarray(from));
    this.#length += chunk.length - from;
    if (this.#length > MAX_LINE) this.#forgetMiddle();
  }

  #complete(chunk: Buffer, from: number, to: number, take: LineTaker): void {
    if (this.#length === 0) return take.line(chunk.toString('utf8', from, to));
    const whole = Buffer.concat([...this.#begun, chunk.subarray(from, to)]);
    const head = this.#head;
    this.#begun = [];
    this.#length = 0;
    this.#head = undefined;
    if (!head) return take.line(whole.toString('utf8'));
    return take.tooLong(head.toString('utf8'), whole.subarray(-KEPT).toString('utf8'));
  }

  #forgetMiddle(): void {
    const whole = Buffer.concat(this.#begun);
    // Copies: a part of a buffer would keep all of it.
    this.#head ??= Buffer.from(whole.subarray(0, KEPT));
    const tail = Buffer.from(whole.subarray(-KEPT));
    this.#begun = [tail];
    this.#length = tail.length;
  }
}
