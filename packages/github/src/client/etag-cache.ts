/** A response that is served again when GitHub answers 304. */
export interface CachedResponse {
  readonly etag: string;
  /** The document as JSON, which takes less memory than its objects. */
  readonly text: string;
  readonly next: string | undefined;
}

const MAX_CHARACTERS = 16_777_216;
const MAX_SHARE = 1 / 64;

/** The last responses of one client, as many as fit. The oldest one is evicted first. */
export class EtagCache {
  readonly #responses = new Map<string, CachedResponse>();
  readonly #max: number;
  #size = 0;

  constructor(maxCharacters = MAX_CHARACTERS) {
    this.#max = maxCharacters;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): CachedResponse | undefined {
    return this.#responses.get(key);
  }

  set(key: string, response: CachedResponse): void {
    this.#delete(key);
    // A large document would evict many small ones.
    if (sizeOf(key, response) > this.#max * MAX_SHARE) return;
    this.#responses.set(key, response);
    this.#size += sizeOf(key, response);
    for (const oldest of this.#responses.keys()) {
      if (this.#size <= this.#max) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const known = this.#responses.get(key);
    if (!known) return;
    this.#responses.delete(key);
    this.#size -= sizeOf(key, known);
  }
}

const sizeOf = (key: string, { etag, text }: CachedResponse): number =>
  key.length + etag.length + text.length;
