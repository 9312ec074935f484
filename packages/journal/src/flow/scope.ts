/** One call at work, as far as the journal needs to see it. The host's own scope fits. */
export interface JournalScope {
  /** The `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** On the journal's clock; Infinity where there is none. */
  readonly deadline: number;
  /** From now on a client that leaves does not end the call. */
  hold(): void;
  /**
   * Calls back once the answer that this call is about to give has reached the client: written to the
   * transport completely and without an error, and not cancelled. Without it no answer counts as delivered.
   */
  onDelivered?(delivered: () => void): void;
}

/** A call of which nothing is known but its arguments. */
export const noScope = (): JournalScope => ({
  meta: {},
  signal: new AbortController().signal,
  deadline: Number.POSITIVE_INFINITY,
  hold: () => undefined,
  // A caller in this process has the answer as soon as it is given.
  onDelivered: (delivered) => delivered(),
});
