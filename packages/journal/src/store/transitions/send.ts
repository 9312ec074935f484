import type { Step } from '../../operation.js';
import { view, type OperationRecord } from '../record.js';
import type { Script } from '../script.js';
import { openStep } from '../states.js';
import type { FencingToken, SendRequest, SendResult } from '../store.js';
import type { Tables } from '../tables.js';
import { record as entry } from './audit-entry.js';
import { haveDifferentKeys } from './equals.js';
import { claimLimits } from './limits.js';
import { freeAll } from './settle.js';

/** The last thing before the first byte. Who was granted it once may be granted it again. */
export function* send(
  tables: Tables,
  fencingToken: FencingToken,
  request: SendRequest,
): Script<SendResult> {
  const { step, limits, rule, cost, releases, exclusive } = request;
  const operation = yield* tables.operations.held(fencingToken);
  if (operation === undefined || !maySend(operation, fencingToken.owner, step)) return LOST;

  const rival = exclusive === true ? yield* unknownRival(tables, operation) : undefined;
  if (rival) return { kind: 'conflict', operation: view(rival, tables.now) };

  const sends = operation.sends + 1;
  if (limits.length > 0) {
    const limited = yield* claimLimits(tables, limits, { operation: fencingToken.id, send: sends });
    if (limited !== undefined) return limited;
  }

  const at = tables.now;
  const steps =
    step === undefined ? operation.steps : opened(operation.steps, step, fencingToken.owner, at);
  const sending = { state: 'sending', sendingAt: at, sends, steps } as const;
  // How an earlier attempt ended says nothing about this one.
  const isAgain = operation.outcome !== undefined || operation.answer !== undefined;
  const changes = isAgain ? { ...sending, ...NO_END } : sending;
  const after = yield* tables.operations.update(operation, changes);
  if (releases !== undefined) yield* freeAll(tables, releases, fencingToken.owner);
  const { correlationId, fence } = after;
  const detail: Record<string, unknown> =
    step === undefined ? { correlationId, fence } : { correlationId, step, fence };
  if (rule !== undefined) detail['rule'] = rule;
  // Once for an operation, however many parts and attempts it is sent in: so that sums are right.
  if (cost !== undefined && sends === 1) detail['cost'] = cost;
  yield* tables.audit.append(entry('send', after, fencingToken.owner, detail));
  return { kind: 'sent', at };
}

/** Of two acts that are meant, the second waits while the first may or may not have happened. */
function* unknownRival(
  { operations }: Tables,
  operation: OperationRecord,
): Script<OperationRecord | undefined> {
  const content = contentOf(operation);
  if (content === undefined) return undefined;
  const equal = yield* operations.withContent(content);
  return equal.find(
    (other) =>
      other.id !== operation.id &&
      other.state === 'unknown' &&
      haveDifferentKeys(other, {
        dedupKey: operation.dedupKey,
        ...(operation.key !== undefined && { key: operation.key }),
      }),
  );
}

/** Of what it would do, as last edited. */
function contentOf({
  dedupKey,
  scopedKey,
  editedDedupKey,
  contentDedupKey,
}: OperationRecord): string | undefined {
  return editedDedupKey ?? (dedupKey.by === 'content' ? scopedKey : contentDedupKey);
}

const NO_END = { outcome: undefined, answer: undefined, code: undefined } as const;

const LOST: SendResult = { kind: 'lost' };

function maySend(operation: OperationRecord, owner: string, name: string | undefined): boolean {
  const open = openStep(operation);
  if (operation.state === 'claimed') return open === undefined && !isDone(operation, name);
  if (operation.state !== 'sending') return false;
  // Another attempt at the same request, by the one who was granted the first.
  return (
    open === name && operation.steps.every((step) => step.name !== name || step.owner === owner)
  );
}

function isDone({ steps }: OperationRecord, name: string | undefined): boolean {
  return steps.some((step) => step.name === name);
}

function opened(steps: readonly Step[], name: string, owner: string, at: number): readonly Step[] {
  return [...steps.filter((step) => step.name !== name), { name, state: 'sending', at, owner }];
}
