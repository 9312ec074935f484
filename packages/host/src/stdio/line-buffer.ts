const NEWLINE = 0x0a;
/** More than any message should have; without an end, a client could fill the memory. */
const MAX_LINE = 10 * 1024 * 1024;

/** Cuts a stream of bytes into lines. */
export class LineBuffer {
  #begun: Buffer[] = [];
  #length = 0;

  /** Gives the lines that this chunk ends. Throws when one is too long to be a message. */
  add(chunk: Buffer, give: (line: string) => void): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      give(this.#complete(chunk, from, at));
      from = at + 1;
    }
    if (from === chunk.length) return;
    this.#begun.push(from === 0 ? chunk : chunk.subarray(from));
    this.#length += chunk.length - from;
    if (this.#length > MAX_LINE) throw new Error(`a message has more than ${MAX_LINE} bytes`);
  }

  #complete(chunk: Buffer, from: number, to: number): string {
    if (this.#length === 0) return chunk.toString('utf8', from, to);
    const whole = Buffer.concat([...this.#begun, chunk.subarray(from, to)]);
    this.#begun = [];
    this.#length = 0;
    return whole.toString('utf8');
  }
}
