import { toolError, type Settled, type SettledFailure } from '@toolkeel/contract';

/** Far over what an answer may have; what is larger is not kept, only that it was there. */
const MAX_BYTES = 1024 * 1024;

const TOO_LARGE =
  'It was carried out, and its answer was too large to be given or kept. Do not repeat it: look at the result.';

export interface StoredAnswer {
  readonly settled: Settled;
  /** When the handler was at its end, in milliseconds since 1970. */
  readonly endedAt: number | undefined;
}

/** An answer as it is kept for a replay: without what only means something while the call runs. */
export function writeAnswer(settled: Settled, endedAt?: number): string {
  const text = JSON.stringify({ ...lasting(settled), endedAt });
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_BYTES) return text;
  // Of a failure the reason is what counts, and that is short.
  const short = settled.ok ? tooLarge(bytes) : lasting({ ...settled, data: null });
  return JSON.stringify({ ...short, endedAt });
}

/** Undefined for what cannot be read: an operation then has no answer, but it still is what it is. */
export function readAnswer(text: string | undefined): StoredAnswer | undefined {
  if (text === undefined) return undefined;
  try {
    const { endedAt, ...settled } = JSON.parse(text) as Settled & { endedAt?: unknown };
    if (!isSettled(settled)) return undefined;
    return { settled, endedAt: typeof endedAt === 'number' ? endedAt : undefined };
  } catch {
    return undefined;
  }
}

function lasting(settled: Settled): Settled {
  if (settled.ok) {
    const { data, paging, rateLimit } = settled;
    return { ok: true, data, rateLimit, ...(paging && { paging: { next: paging.next } }) };
  }
  const { error, data, rateLimit } = settled;
  return { ok: false, error, data, rateLimit };
}

/** With the code that the first answer had: it does not fit into what an answer may have either. */
function tooLarge(bytes: number): SettledFailure {
  const details = { bytes, budget: MAX_BYTES };
  const error = toolError('response_too_large', TOO_LARGE, { outcome: 'executed', details });
  return { ok: false, error: error.input };
}

function isSettled(value: unknown): value is Settled {
  if (typeof value !== 'object' || value === null || !('ok' in value)) return false;
  if (value.ok === true) return 'data' in value;
  return value.ok === false && 'error' in value && typeof value.error === 'object';
}
