const NEWLINE = 0x0a;
/** The maximum length of a line, so that a client cannot exhaust the memory. */
export const MAX_LINE: number = 10 * 1024 * 1024;
/** The bytes kept of both ends of a line that is too long. */
const KEPT = 1024;

/** Receives the lines of a stream. */
export interface LineHandler {
  readonly line: (text: string) => void;
  /** Called with both ends of a line that is too long. */
  readonly tooLong: (head: string, tail: string) => void;
}

/** Splits a stream of bytes into lines. */
export class LineBuffer {
  #chunks: Buffer[] = [];
  #length = 0;
  /** The start of a line that is too long. Its end is in `#chunks`. */
  #head: Buffer | undefined;

  /** Passes on the lines that this chunk completes. */
  add(chunk: Buffer, handler: LineHandler): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#complete(chunk, from, at, handler);
      from = at + 1;
    }
    if (from === chunk.length) return;
    this.#chunks.push(from === 0 ? chunk : chunk.subarray(from));
    this.#length += chunk.length - from;
    if (this.#length > MAX_LINE) this.#dropMiddle();
  }

  #complete(chunk: Buffer, from: number, to: number, handler: LineHandler): void {
    if (this.#length === 0) return handler.line(chunk.toString('utf8', from, to));
    const whole = Buffer.concat([...this.#chunks, chunk.subarray(from, to)]);
    const head = this.#head;
    this.#chunks = [];
    this.#length = 0;
    this.#head = undefined;
    if (!head) return handler.line(whole.toString('utf8'));
    return handler.tooLong(head.toString('utf8'), whole.subarray(-KEPT).toString('utf8'));
  }

  #dropMiddle(): void {
    const whole = Buffer.concat(this.#chunks);
    // Copies, because a view would keep the whole buffer in memory.
    this.#head ??= Buffer.from(whole.subarray(0, KEPT));
    const tail = Buffer.from(whole.subarray(-KEPT));
    this.#chunks = [tail];
    this.#length = tail.length;
  }
}

const ID = String.raw`(-?\d{1,16}|"(?:[^"\\]|\\.){0,200}")`;
/** Preceded only by scalar members, so the id belongs to the message itself. */
const AT_START = new RegExp(
  String.raw`^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*){0,2}"id"\s*:\s*${ID}\s*[,}]`,
);
/** Followed only by the end of the message, so the id does not belong to a nested object. */
const AT_END = new RegExp(
  String.raw`,\s*"id"\s*:\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"[^"\\]*"\s*)?\}\s*$`,
);

/** Finds the id in the ends of a message: clients write it first or last. */
export function findId(head: string, tail: string): string | number | null {
  const id = AT_START.exec(head)?.[1] ?? AT_END.exec(tail)?.[1];
  if (id === undefined) return null;
  try {
    return JSON.parse(id) as string | number;
  } catch {
    return null;
  }
}
