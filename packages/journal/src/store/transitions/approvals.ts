import { type Approval, type DedupKey, isSameDedupKey, type Operation } from '../../operation.js';
import {
  auditEntry,
  isHeldBy,
  isSettled,
  type OperationRecord,
  type RecordChanges,
  view,
} from '../record.js';
import type { Script } from '../script.js';
import type {
  ApprovalDecision,
  ApprovalEdit,
  ApprovalRequest,
  DecisionResult,
  FencingToken,
} from '../store.js';
import type { Tables } from '../tables.js';
import { equalsFor, givenUp, held, isFreeAgain } from './dedup-keys.js';

export function* awaitApproval(
  tables: Tables,
  fencingToken: FencingToken,
  request: ApprovalRequest,
): Script<Operation | 'full' | undefined> {
  const operation = yield* tables.operations.get(fencingToken.id);
  if (!isHeldBy(operation, fencingToken) || operation.state !== 'claimed') return undefined;
  if (yield* isFull(tables, operation.account, request.maxPending)) return 'full';
  const { rule, explanation, hash, expiresAt, cost, duplicate, sensitive } = request;
  const { encryptedArgs, answer } = request;
  const asked = { rule, explanation, hash, requestedAt: tables.now, expiresAt };
  const after = yield* tables.operations.update(operation, {
    state: 'awaiting_approval',
    owner: undefined,
    args: encryptedArgs,
    answer,
    code: 'approval_required',
    approval: {
      ...asked,
      ...(cost && { cost }),
      ...(duplicate && { duplicate }),
      ...(sensitive && { sensitive }),
    },
  });
  yield* tables.notifications.add('approval_requested', after.id);
  yield* tables.audit.append(
    auditEntry('approval_requested', after, fencingToken.owner, {
      rule,
      hash,
      expiresAt,
      cost,
      duplicate,
    }),
  );
  return view(after, tables.now);
}

function* isFull(
  { limits, operations }: Tables,
  account: string,
  max: number | undefined,
): Script<boolean> {
  if (max === undefined) return false;
  // Whoever asks for the same account at the same time counts after us.
  yield* limits.lock([`pending approvals of ${account}`]);
  return (yield* operations.undecided(account)) >= max;
}

/** `slot`: of what it becomes. */
export function* editApproval(
  tables: Tables,
  id: string,
  edit: ApprovalEdit,
  scopedKey: (of: Pick<Operation, 'account' | 'tool' | 'dedupKey'>) => string,
): Script<DecisionResult> {
  const { expected, hash, dedupKey, encryptedArgs, cost, by } = edit;
  const waiting = yield* undecided(tables, id, expected);
  if ('kind' in waiting) return waiting;
  const { operation, approval } = waiting;
  const { cost: _former, ...rest } = approval;
  const edited: Approval = {
    ...rest,
    ...(cost && { cost }),
    hash,
    editedArgs: encryptedArgs,
    editedBy: by,
    editedAt: tables.now,
  };
  const detail = { from: expected, to: hash, cost };
  const { account, tool } = operation;
  const becomes = scopedKey({ account, tool, dedupKey: { by: 'content', value: hash } });
  const taken = yield* heldByAnother(tables, operation, becomes);
  if (taken) return taken;
  const moved: RecordChanges | DecisionResult = isSameDedupKey(dedupKey, operation.dedupKey)
    ? {}
    : yield* moveTo(tables, operation, dedupKey, scopedKey({ account, tool, dedupKey }));
  if ('kind' in moved) return moved;
  // Where the content has a slot of its own, it is found by that.
  const editedDedupKey = (moved.scopedKey ?? operation.scopedKey) === becomes ? undefined : becomes;
  return yield* decided(
    tables,
    operation,
    { ...moved, ...(operation.effect === 'once' && { editedDedupKey }), approval: edited },
    auditEntry('approval_edited', operation, by, detail),
  );
}

/** Another operation is for the very same, or has just executed it, under whatever name. */
function* heldByAnother(
  tables: Tables,
  { id, effect }: OperationRecord,
  content: string,
): Script<DecisionResult | undefined> {
  if (effect !== 'once') return undefined;
  yield* tables.operations.lockContent(content);
  const equal = yield* tables.operations.withContent(content);
  const [first] = equalsFor(
    equal.filter((other) => other.id !== id),
    UNNAMED,
    content,
    tables.now,
  );
  return first && { kind: 'taken', operation: view(first.record, tables.now) };
}

/** An edit has no name of its own that would make a second act of it. */
const UNNAMED = { dedupKey: { by: 'content', value: '' } } as const;

/**
 * From now on it holds what it would do, as if that had been asked for; and still what was asked for,
 * so that a re-issue finds it. What another one has, or has just done, it cannot become.
 */
function* moveTo(
  tables: Tables,
  operation: OperationRecord,
  dedupKey: DedupKey,
  scopedKey: string,
): Script<RecordChanges | DecisionResult> {
  const holder = yield* tables.operations.holder(scopedKey);
  if (holder !== undefined && holder.id !== operation.id) {
    const isFree = isSettled(holder) && isFreeAgain(holder, scopedKey, tables.now);
    if (!isFree) return { kind: 'taken', operation: view(holder, tables.now) };
    yield* tables.operations.update(holder, givenUp(holder, scopedKey));
  }
  const { key, scopedKey: left, secondaryDedupKey, dedupKey: former } = operation;
  const named = {
    dedupKey,
    scopedKey,
    key: key ?? (former.by === 'key' ? former.value : undefined),
  };
  // Taken back: it is what was asked for again.
  if (secondaryDedupKey === scopedKey) return { ...named, secondaryDedupKey: undefined };
  const isAsAsked = former.by === 'content' && operation.approval?.editedArgs === undefined;
  // Where a key has that place already, what was asked for is found by its content.
  if (secondaryDedupKey !== undefined && key !== undefined && isAsAsked) {
    return { ...named, contentDedupKey: left ?? operation.contentDedupKey };
  }
  return { ...named, secondaryDedupKey: secondaryDedupKey ?? left };
}

export function* decideApproval(
  tables: Tables,
  id: string,
  request: ApprovalDecision,
): Script<DecisionResult> {
  const { decision, hash, by, reason, holdMs } = request;
  const waiting = yield* undecided(tables, id, hash);
  if ('kind' in waiting) return waiting;
  const { operation } = waiting;
  const said = { decision, decidedAt: tables.now, decidedBy: by };
  const approval: Approval = {
    ...waiting.approval,
    ...(reason === undefined ? said : { ...said, reason }),
  };
  const changes: RecordChanges =
    decision === 'approved'
      ? { approval }
      : { approval, ...closed(operation, 'denied', tables.now, holdMs) };
  const detail = { decision, hash, reason };
  return yield* decided(
    tables,
    operation,
    changes,
    auditEntry('approval_decided', operation, by, detail),
  );
}

/** Closed without having been carried out; the answer is given again while it holds its slot. */
function closed(
  operation: OperationRecord,
  state: 'denied' | 'expired',
  now: number,
  holdMs: number,
): RecordChanges {
  const code = state === 'denied' ? 'approval_denied' : 'approval_expired';
  const places = held(operation, now, { holdMs });
  return { state, outcome: 'not_executed', code, settledAt: now, ...places };
}

/** The operation if it can still be decided, else why not. */
function* undecided(
  tables: Tables,
  id: string,
  hash: string,
): Script<DecisionResult | { readonly operation: OperationRecord; readonly approval: Approval }> {
  const operation = yield* tables.operations.get(id);
  if (operation === undefined) return { kind: 'absent' };
  const { approval, state } = operation;
  const shown = view(operation, tables.now);
  if (approval === undefined) return { kind: 'not_waiting', operation: shown };
  if (state === 'expired') return { kind: 'expired', operation: shown };
  if (approval.decision !== undefined) return { kind: 'already', operation: shown };
  if (state !== 'awaiting_approval') return { kind: 'not_waiting', operation: shown };
  if (approval.expiresAt <= tables.now) return { kind: 'expired', operation: shown };
  if (approval.hash !== hash) return { kind: 'changed', operation: shown };
  return { operation, approval };
}

function* decided(
  tables: Tables,
  operation: OperationRecord,
  changes: RecordChanges,
  audit: ReturnType<typeof auditEntry>,
): Script<DecisionResult> {
  const after = yield* tables.operations.update(operation, changes);
  yield* tables.audit.append(audit);
  return { kind: 'decided', operation: view(after, tables.now) };
}

export function* takeApproved(
  tables: Tables,
  owner: string,
  tools: readonly string[],
): Script<Operation | undefined> {
  if (tools.length === 0 || !(yield* tables.owners.alive(owner))) return undefined;
  const operation = yield* tables.operations.nextApproved(tools);
  if (operation === undefined) return undefined;
  const after = yield* tables.operations.update(operation, {
    state: 'claimed',
    owner,
    fence: operation.fence + 1,
    notBefore: undefined,
  });
  yield* tables.audit.append(auditEntry('approval_taken', after, owner));
  return view(after, tables.now);
}

export function* expireOne(
  tables: Tables,
  id: string,
  holdMs: number,
): Script<Operation | undefined> {
  const operation = yield* tables.operations.get(id);
  if (operation?.state !== 'awaiting_approval') return undefined;
  if (operation.approval === undefined || operation.approval.expiresAt > tables.now)
    return undefined;
  const changes = closed(operation, 'expired', tables.now, holdMs);
  const after = yield* tables.operations.update(operation, changes);
  yield* tables.audit.append(auditEntry('approval_expired', after, 'toolkeel'));
  return view(after, tables.now);
}
