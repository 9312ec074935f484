import {
  toolError,
  type Arguments,
  type OtherOperation,
  type Others,
  type Settled,
  type Tool,
} from '@toolkeel/contract';
import { readAnswer } from '../answer/answer.js';
import { effectiveArguments } from '../answer/arguments.js';
import type { BlockedReason } from '../blocked.js';
import type { JournalContext } from '../context.js';
import { signalUntil, TOO_LATE, withDeadline } from '../deadline.js';
import type { Operation } from '../operation.js';
import { EARLIER_MS, LATER_MS, UNSETTLED } from '../store/record.js';
import type { OperationFilter } from '../store/store.js';

export type ReadBackResult =
  | { readonly kind: 'executed'; readonly settled: Settled }
  | { readonly kind: 'absent'; readonly evidence?: unknown }
  | { readonly kind: 'unknown'; readonly reason: BlockedReason };

const READ_BACK_TIMEOUT_MS = 10_000;

const INVALID_DATA =
  "The operation was executed, but the data read back does not match the tool's output schema. Do not repeat it.";

/** Asks the upstream whether an operation was executed. Never rejects. */
export async function readBack(
  context: JournalContext,
  tool: Tool,
  operation: Pick<Operation, 'id' | 'account' | 'correlationId'> & {
    readonly args: Arguments;
    readonly sentAt: number;
  },
  stopping?: AbortSignal,
): Promise<ReadBackResult> {
  const { clock, report } = context;
  const { reconcile } = tool;
  if (!reconcile) return { kind: 'unknown', reason: 'no_read_back' };
  const { id, account, args, sentAt, correlationId } = operation;
  const deadline = clock.now() + READ_BACK_TIMEOUT_MS;
  const { signal, done } = signalUntil(clock, deadline, stopping);
  const others: Others = (tools, range) =>
    range === 'all'
      ? otherOperations(context, operation, 0, { tools })
      : otherOperationsNear(context, operation, sentAt, tools);
  try {
    const reading = reconcile.readBack(
      { id, account, args, sentAt, others },
      { signal, deadline, correlationId, progress: ignore, noteRetry: ignore },
    );
    const result = await Promise.race([withDeadline(clock, deadline, reading), aborted(signal)]);
    if (result === TOO_LATE) return { kind: 'unknown', reason: 'read_back_timed_out' };
    if (result.found === 'unknown') return { kind: 'unknown', reason: 'read_back_inconclusive' };
    if (result.found === 'absent') return { kind: 'absent', evidence: result.evidence };
    const data = tool.output.safeParse(result.data);
    if (data.success) return { kind: 'executed', settled: { ok: true, data: data.data } };
    report(data.error, correlationId, 'read_back');
    const { input } = toolError('internal_error', INVALID_DATA, { outcome: 'executed' });
    return { kind: 'executed', settled: { ok: false, error: { ...input, operationId: id } } };
  } catch (cause) {
    report(cause, correlationId, 'read_back');
    return { kind: 'unknown', reason: 'read_back_failed' };
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

/** A read-back has no caller to report progress to. */
function ignore(): void {}

const PAGE = 200;
/** With more concurrent operations, effects cannot be attributed reliably. */
const MAX_PAGES = 50;

interface OtherRange extends Pick<OperationFilter, 'until'> {
  readonly tools?: readonly string[] | undefined;
}

/** The other operations around the time when one was sent. */
export function otherOperationsNear(
  context: JournalContext,
  operation: Pick<Operation, 'id' | 'account'>,
  sentAt: number,
  tools?: readonly string[],
): Promise<readonly OtherOperation[]> {
  const until = sentAt + LATER_MS;
  return otherOperations(context, operation, sentAt - EARLIER_MS, { until, tools });
}

/**
 * The other operations that are in flight or settled since a time, so that a read-back does not attribute
 * their effects to its own. Includes other accounts, which may belong to the same upstream user.
 */
export async function otherOperations(
  { store, encryption }: JournalContext,
  { id, account }: Pick<Operation, 'id' | 'account'>,
  settledSince: number,
  { tools, ...range }: OtherRange = {},
): Promise<readonly OtherOperation[]> {
  const listAll = async (given: OperationFilter): Promise<readonly Operation[]> => {
    const filter = { ...given, ...range, limit: PAGE };
    const found: Operation[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const before = found.at(-1)?.id;
      const some = await store.list(before === undefined ? filter : { ...filter, before });
      found.push(...some);
      if (some.length < PAGE) return found;
    }
    throw new Error(`too many concurrent operations to attribute the effects of ${id}`);
  };
  const found: Operation[] = [];
  for (const only of tools?.map((tool) => ({ tool })) ?? [{}]) {
    // Unsettled first: an operation that settles between the two lists is in the second.
    found.push(...(await listAll({ ...only, states: UNSETTLED })));
    found.push(...(await listAll({ ...only, settledSince })));
  }
  return found
    .filter((other) => other.id !== id)
    .map((other) => {
      const data = readAnswer(other.answer)?.settled.data;
      const steps = stepResults(other);
      return {
        tool: other.tool,
        args: effectiveArguments(encryption, other),
        results: data === undefined ? steps : [data, ...steps],
        ...(other.account === account && sendTimes(other)),
      };
    });
}

function sendTimes({ steps, state, outcome, sendingAt, createdAt }: Operation) {
  const open = steps.find((step) => step.state === 'sending');
  const sentAt = open?.at ?? sendingAt ?? createdAt;
  if (open || state === 'sending' || state === 'unknown') return { openSince: sentAt };
  const isExecuted = state === 'succeeded' || (state === 'reconciled' && outcome === 'executed');
  return isExecuted ? { executedAt: sentAt } : {};
}

/** The results of the completed steps, in order. */
export function stepResults({ steps }: Operation): readonly unknown[] {
  return steps.flatMap(({ result }) =>
    result === undefined ? [] : [JSON.parse(result) as unknown],
  );
}
