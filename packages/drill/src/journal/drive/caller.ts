import type { Reply } from './rpc.js';
import type { Site } from './sites.js';

/** How an act ended for the one who asked for it. */
export type CallEnd =
  | { readonly kind: 'done'; readonly id: string; readonly replayed: boolean }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'refused'; readonly code: string }
  /** Never answered: nobody may be left like that. */
  | { readonly kind: 'limbo'; readonly last: string };

export interface CallStats {
  calls: number;
  /** Calls without an answer in their own time, though their server lived. */
  late: number;
  codes: Record<string, number>;
}

/** Answers after which the same call may succeed: an agent would issue it again, and so do we. */
const AGAIN: ReadonlySet<string> = new Set([
  'idempotency_in_flight',
  'upstream_unavailable',
  'rate_limited',
  'timeout',
  'db_error',
  'cancelled',
  'overloaded',
  'circuit_open',
]);

const MOST_ISSUES = 60;

/** Asks until it knows: whatever is lost or may be retried is issued again, under a new request id. */
export async function pursue(
  site: Site,
  tool: string,
  args: { readonly key: string },
  timeoutMs: number,
  stats: CallStats,
): Promise<CallEnd> {
  let last = 'nothing';
  for (let issue = 0; issue < MOST_ISSUES; issue++) {
    const server = await site.server();
    stats.calls += 1;
    const reply = await server.call(tool, args, timeoutMs);
    if (reply.kind === 'late') stats.late += 1;
    last = nameOf(reply);
    stats.codes[last] = (stats.codes[last] ?? 0) + 1;
    if (reply.kind !== 'answer') continue;
    const { success, data, error, meta } = reply.envelope;
    if (success) {
      return { kind: 'done', id: idOf(data), replayed: meta.idempotency?.replayed ?? false };
    }
    if (error?.code === 'outcome_unknown') {
      return { kind: 'unknown', why: JSON.stringify(error.details ?? {}) };
    }
    if (!AGAIN.has(last)) return { kind: 'refused', code: last };
    await new Promise((resolve) => setTimeout(resolve, Math.min(error?.retry_after_ms ?? 20, 200)));
  }
  return { kind: 'limbo', last };
}

function nameOf(reply: Reply): string {
  if (reply.kind !== 'answer') return reply.kind;
  return reply.envelope.success ? 'ok' : (reply.envelope.error?.code ?? 'no error');
}

/** What identifies the effect, or the effects of all parts. */
function idOf(data: unknown): string {
  const { id, ids } = data as { readonly id?: string; readonly ids?: readonly string[] };
  return id ?? ids?.join(',') ?? '';
}
