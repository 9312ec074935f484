import type { Arguments } from '../../../api/types.js';

const MAX_SHOWN = 280;

/** The argument by which a person recognises an operation: its text, else what it acts on. */
export function decisiveText(args: Arguments | undefined): string {
  const texts = Object.entries(args ?? {}).filter(
    ([name, value]) => typeof value === 'string' && name !== 'idempotency_key',
  );
  const best = texts.find(([name]) => /^(text|title|body|message)$/.test(name)) ?? texts[0];
  if (best === undefined) return '';
  const [name, value] = [best[0], String(best[1])];
  const shown = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  return /^(text|title|body|message)$/.test(name) ? shown : `${name}: ${shown}`;
}

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
