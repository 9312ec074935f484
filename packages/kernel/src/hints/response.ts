/** What is read of a response. Each part may be missing, and none of them is trusted. */
export interface ResponseLike {
  readonly status?: number | undefined;
  /** Any container of headers: `Headers`, a plain object, a `Map`, pairs, node's `rawHeaders`. */
  readonly headers?: unknown;
  /** Parsed JSON, JSON text, or anything else. */
  readonly body?: unknown;
}
