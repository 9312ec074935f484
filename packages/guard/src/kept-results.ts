import { randomUUID } from 'node:crypto';
import { cutAt } from './result-budget.js';

/** The rest of a result that was cut. */
export interface KeptResult {
  /** Of the first page. */
  readonly uri: string;
  readonly pages: number;
  readonly bytes: number;
  readonly minutes: number;
}

/** Keeps the rests of one client's results. */
export interface ResultKeeper {
  /** Undefined if the text is too large. */
  readonly keep: (text: string, pageBytes: number) => KeptResult | undefined;
  /** Whether the client knows links to resources. */
  readonly canLink: boolean;
}

/** A page of a rest. */
export interface KeptPage {
  readonly text: string;
  readonly number: number;
  readonly pages: number;
  /** Undefined: this is the last one. */
  readonly next: string | undefined;
}

interface Entry {
  /** Other clients must not read it. */
  readonly owner: object;
  readonly text: string;
  readonly starts: readonly number[];
  readonly bytes: number;
  readonly expiresAt: number;
}

const SCHEME = 'toolkeel://results/';
const KEPT_MINUTES = 15;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 200;

/** The rests of results, in memory: bounded, expiring, and each for its own client only. */
export class KeptResults {
  readonly #now: () => number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(now: () => number = () => performance.now(), maxBytes: number = MAX_BYTES) {
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  keep(owner: object, text: string, pageBytes: number): KeptResult | undefined {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#maxBytes) return undefined;
    const starts: number[] = [];
    for (let at = 0; at < text.length;) {
      starts.push(at);
      // A character that is larger than a page would never be passed.
      at += Math.max(1, cutAt(text.slice(at, at + pageBytes), pageBytes));
    }
    const id = randomUUID();
    const expiresAt = this.#now() + KEPT_MINUTES * 60_000;
    this.#entries.set(id, { owner, text, starts, bytes, expiresAt });
    this.#bytes += bytes;
    this.#evict();
    return { uri: `${SCHEME}${id}/1`, pages: starts.length, bytes, minutes: KEPT_MINUTES };
  }

  /** Whether the address is one of these, also if nothing is kept there any more. */
  static isAddress(uri: unknown): uri is string {
    return typeof uri === 'string' && uri.startsWith(SCHEME);
  }

  read(owner: object, uri: string): KeptPage | undefined {
    const [, id = '', page = ''] = /^([\w-]{36})\/(\d{1,6})$/.exec(uri.slice(SCHEME.length)) ?? [];
    const entry = this.#entries.get(id);
    if (!entry || entry.owner !== owner || entry.expiresAt <= this.#now()) return undefined;
    const number = Number(page);
    const { text, starts } = entry;
    const start = starts[number - 1];
    if (start === undefined) return undefined;
    const end = starts[number];
    return {
      text: text.slice(start, end),
      number,
      pages: starts.length,
      next: end === undefined ? undefined : `${SCHEME}${id}/${number + 1}`,
    };
  }

  /** The client is gone. */
  forget(owner: object): void {
    for (const [id, entry] of this.#entries) if (entry.owner === owner) this.#delete(id, entry);
  }

  #evict(): void {
    const now = this.#now();
    for (const [id, entry] of this.#entries) {
      const isFull = this.#bytes > this.#maxBytes || this.#entries.size > MAX_ENTRIES;
      // The oldest come first.
      if (!isFull && entry.expiresAt > now) break;
      this.#delete(id, entry);
    }
  }

  #delete(id: string, { bytes }: Entry): void {
    this.#entries.delete(id);
    this.#bytes -= bytes;
  }
}
