import type { Operation, OperationState } from '../operation.js';
import type { OperationRecord } from './record.js';
import type { FencingToken } from './store.js';

export const IN_FLIGHT = ['claimed', 'sending'] as const satisfies readonly OperationState[];

/** What was sent of it, if anything, has an end that is not known yet. */
export const UNSETTLED = [...IN_FLIGHT, 'unknown'] as const satisfies readonly OperationState[];

export const SETTLED = [
  'succeeded',
  'rejected',
  'reconciled',
  'denied',
  'expired',
  'released',
] as const satisfies readonly OperationState[];

const settled: ReadonlySet<OperationState> = new Set(SETTLED);

export function isSettled({ state }: Pick<OperationRecord, 'state'>): boolean {
  return settled.has(state);
}

/** Somebody works on it, or did until his lease lapsed. */
export function isInFlight({ state, owner }: Pick<OperationRecord, 'state' | 'owner'>): boolean {
  return owner !== undefined && (state === 'claimed' || state === 'sending');
}

/** Whether it is still the caller's. */
export function isHeldBy(
  record: OperationRecord | undefined,
  fencingToken: FencingToken,
): record is OperationRecord {
  return (
    record !== undefined &&
    record.owner === fencingToken.owner &&
    record.fence === fencingToken.fence
  );
}

/** A step that was sent and of which nobody has said yet how it ended. */
export function openStep({ steps }: Pick<OperationRecord, 'steps'>): string | undefined {
  return steps.find(({ state }) => state === 'sending')?.name;
}

/** What others wait for: that nobody works on it any more, or that a person has approved it. */
export function newsOf(
  wasInFlight: boolean,
  after: OperationRecord,
): 'ended' | 'approved' | undefined {
  if (wasInFlight && !isInFlight(after)) return 'ended';
  const approved = after.approval?.decision === 'approved' && after.state === 'awaiting_approval';
  return approved ? 'approved' : undefined;
}

/** Some of its steps are done, none is open, and nobody goes on with it now. */
export function isHalfDone({
  state,
  owner,
  steps,
}: Pick<Operation, 'state' | 'steps'> & { readonly owner?: string | undefined }): boolean {
  return state === 'claimed' && owner === undefined && steps.length > 0;
}
