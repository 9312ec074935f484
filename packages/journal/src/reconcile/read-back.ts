import {
  toolError,
  type Arguments,
  type Others,
  type Settled,
  type Tool,
} from '@toolkeel/contract';
import { TOO_LATE, signalUntil, within } from '../flow/bounded.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import { othersAt } from './others.js';

export type Found =
  | { readonly kind: 'executed'; readonly settled: Settled }
  | { readonly kind: 'absent'; readonly evidence?: unknown }
  | { readonly kind: 'unknown' };

/** The most that one look may take. */
const LOOK_MS = 10_000;

const ODD_ANSWER =
  'It was carried out, but what was read back of it does not match what the tool promises. Do not repeat it.';

/** Asks the upstream whether an operation happened. Never rejects. */
export async function readBack(
  { clock, report, store, encryption }: Pick<Kit, 'clock' | 'report' | 'store' | 'encryption'>,
  tool: Tool,
  operation: Pick<Operation, 'id' | 'account' | 'correlationId'> & {
    readonly args: Arguments;
    readonly sentAt: number;
  },
  stopping?: AbortSignal,
): Promise<Found> {
  const { reconcile } = tool;
  if (!reconcile) return { kind: 'unknown' };
  const { id, account, args, sentAt, correlationId } = operation;
  const deadline = clock.now() + LOOK_MS;
  const { signal, done } = signalUntil(clock, deadline, stopping);
  const others: Others = (tools) => othersAt({ store, encryption }, operation, sentAt, tools);
  try {
    const looking = reconcile.readBack(
      { id, account, args, sentAt, others },
      { signal, deadline, correlationId, progress: ignore, noteRetry: ignore },
    );
    const found = await Promise.race([within(clock, deadline, looking), aborted(signal)]);
    if (found === TOO_LATE) return { kind: 'unknown' };
    if (found.found === 'unknown') return { kind: 'unknown' };
    if (found.found === 'absent') return { kind: 'absent', evidence: found.evidence };
    const data = tool.output.safeParse(found.data);
    if (data.success) return { kind: 'executed', settled: { ok: true, data: data.data } };
    report(data.error, correlationId);
    const { input } = toolError('internal_error', ODD_ANSWER, { outcome: 'executed' });
    return { kind: 'executed', settled: { ok: false, error: { ...input, operationId: id } } };
  } catch (cause) {
    report(cause, correlationId);
    return { kind: 'unknown' };
  } finally {
    done();
  }
}

function aborted(signal: AbortSignal): Promise<typeof TOO_LATE> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(TOO_LATE);
    else signal.addEventListener('abort', () => resolve(TOO_LATE), { once: true });
  });
}

function ignore(): void {
  // Nobody waits for a look.
}
