interface Told {
  readonly details?: unknown;
}

/** What the upstream answered to an operation with an unknown outcome, from the error that is stored. */
export function responseText(error: unknown): string {
  const { details } = (typeof error === 'object' && error !== null ? error : {}) as Told;
  const { status, clock, cause_code } = (
    typeof details === 'object' && details !== null ? details : {}
  ) as { readonly status?: unknown; readonly clock?: unknown; readonly cause_code?: unknown };
  const cause = typeof cause_code === 'string' ? ` (${cause_code})` : '';
  if (typeof status === 'number') return `HTTP ${status}${cause}`;
  if (typeof clock === 'string') return `None: it timed out${cause}`;
  return `None${cause === '' ? ' is stored' : cause}`;
}
