import { type Approval, type DedupKey, isSameDedupKey, type Operation } from '../../operation.js';
import {
  auditEntry,
  isHeldBy,
  isSettled,
  type OperationRecord,
  type RecordChanges,
  toOperation,
} from '../record.js';
import type { Script } from '../script.js';
import type {
  Act,
  ApprovalDecision,
  ApprovalEdit,
  ApprovalRequest,
  DecisionResult,
  FencingToken,
} from '../store.js';
import type { Tables } from '../tables.js';
import { contentMatches, releaseKey, keysAfterSettlement, isHoldExpired } from './dedup-keys.js';

/** Decides about calls that only wait for their time. */
const POLICY = 'policy';

export function* awaitApproval(
  tables: Tables,
  fencingToken: FencingToken,
  request: ApprovalRequest,
): Script<Operation | 'full' | undefined> {
  const operation = yield* tables.operations.get(fencingToken.id);
  if (!isHeldBy(operation, fencingToken) || operation.state !== 'claimed') return undefined;
  const { rule, explanation, hash, expiresAt, cost, duplicate, sensitive } = request;
  const { scheduledFor, onBehalfOf, byPolicy } = request;
  const isFullNow = !byPolicy && (yield* isFull(tables, operation.account, request.maxPending));
  if (isFullNow) return 'full';
  const { encryptedArgs, answer } = request;
  const requested = { rule, explanation, hash, requestedAt: tables.now, expiresAt };
  const after = yield* tables.operations.update(operation, {
    state: 'awaiting_approval',
    owner: undefined,
    args: encryptedArgs,
    answer,
    code: 'approval_required',
    approval: {
      ...requested,
      ...(cost && { cost }),
      ...(duplicate && { duplicate }),
      ...(sensitive && { sensitive }),
      ...(scheduledFor !== undefined && { scheduledFor }),
      ...(onBehalfOf !== undefined && { onBehalfOf }),
      ...(byPolicy && { byPolicy, decision: 'approved', decidedAt: tables.now, decidedBy: POLICY }),
    },
    notBefore: scheduledFor,
  });
  if (!byPolicy) yield* tables.notifications.add('approval_requested', after.id);
  yield* tables.audit.append(
    auditEntry(byPolicy ? 'scheduled' : 'approval_requested', after, fencingToken.owner, {
      rule,
      hash,
      expiresAt,
      cost,
      duplicate,
      scheduledFor,
    }),
  );
  return toOperation(after, tables.now);
}

function* isFull(
  { limits, operations }: Tables,
  account: string,
  max: number | undefined,
): Script<boolean> {
  if (max === undefined) return false;
  // Concurrent requests of the same account are counted one after the other.
  yield* limits.lock([`pending approvals of ${account}`]);
  return (yield* operations.undecided(account)) >= max;
}

export function* editApproval(
  tables: Tables,
  id: string,
  edit: ApprovalEdit,
  scopedKeyOf: (act: Act) => string,
): Script<DecisionResult> {
  const { expected, hash, dedupKey, encryptedArgs, cost, by } = edit;
  const waiting = yield* pendingApproval(tables, id, expected);
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
  const contentKey = scopedKeyOf({ account, tool, dedupKey: { by: 'content', value: hash } });
  const taken = yield* conflictingContent(tables, operation, contentKey);
  if (taken) return taken;
  const rebound: RecordChanges | DecisionResult = isSameDedupKey(dedupKey, operation.dedupKey)
    ? {}
    : yield* rebind(tables, operation, dedupKey, scopedKeyOf({ account, tool, dedupKey }));
  if ('kind' in rebound) return rebound;
  // Not stored twice if the dedup key itself is that of the content.
  const editedDedupKey =
    (rebound.scopedKey ?? operation.scopedKey) === contentKey ? undefined : contentKey;
  return yield* writeDecision(
    tables,
    operation,
    { ...rebound, ...(operation.effect === 'once' && { editedDedupKey }), approval: edited },
    auditEntry('approval_edited', operation, by, detail),
  );
}

/** `taken` if another operation holds the content of the edited arguments. */
function* conflictingContent(
  tables: Tables,
  { id, effect }: OperationRecord,
  content: string,
): Script<DecisionResult | undefined> {
  if (effect !== 'once') return undefined;
  yield* tables.operations.lockContent(content);
  const matches = yield* tables.operations.withContent(content);
  const [first] = contentMatches(
    matches.filter((other) => other.id !== id),
    WITHOUT_KEY,
    content,
    tables.now,
  );
  return first && { kind: 'taken', operation: toOperation(first.record, tables.now) };
}

/** An edit has no explicit key that could mark it as a second act. */
const WITHOUT_KEY = { dedupKey: { by: 'content', value: '' } } as const;

/**
 * Gives the operation the dedup key of the edited arguments, and keeps that of the original ones, so that
 * a repeated call finds it. `taken` if another operation holds the new key.
 */
function* rebind(
  tables: Tables,
  operation: OperationRecord,
  dedupKey: DedupKey,
  scopedKey: string,
): Script<RecordChanges | DecisionResult> {
  const holder = yield* tables.operations.holder(scopedKey);
  if (holder !== undefined && holder.id !== operation.id) {
    const isFree = isSettled(holder) && isHoldExpired(holder, scopedKey, tables.now);
    if (!isFree) return { kind: 'taken', operation: toOperation(holder, tables.now) };
    yield* tables.operations.update(holder, releaseKey(holder, scopedKey));
  }
  const { key, scopedKey: formerKey, secondaryDedupKey, dedupKey: former } = operation;
  const keys = {
    dedupKey,
    scopedKey,
    key: key ?? (former.by === 'key' ? former.value : undefined),
  };
  // The edit restores the original arguments.
  if (secondaryDedupKey === scopedKey) return { ...keys, secondaryDedupKey: undefined };
  const isUnedited = former.by === 'content' && operation.approval?.editedArgs === undefined;
  // The explicit key occupies the secondary key, so the original content moves to the content key.
  if (secondaryDedupKey !== undefined && key !== undefined && isUnedited) {
    return { ...keys, contentDedupKey: formerKey ?? operation.contentDedupKey };
  }
  return { ...keys, secondaryDedupKey: secondaryDedupKey ?? formerKey };
}

export function* decideApproval(
  tables: Tables,
  id: string,
  request: ApprovalDecision,
): Script<DecisionResult> {
  const { decision, hash, by, reason, holdMs } = request;
  const waiting = yield* pendingApproval(tables, id, hash);
  if ('kind' in waiting) return waiting;
  const { operation } = waiting;
  const made = { decision, decidedAt: tables.now, decidedBy: by };
  const approval: Approval = {
    ...waiting.approval,
    ...(reason === undefined ? made : { ...made, reason }),
  };
  const changes: RecordChanges =
    decision === 'approved'
      ? { approval }
      : { approval, ...closedChanges(operation, 'denied', tables.now, holdMs) };
  const detail = { decision, hash, reason };
  return yield* writeDecision(
    tables,
    operation,
    changes,
    auditEntry('approval_decided', operation, by, detail),
  );
}

/** Closes an operation without execution; its answer is replayed while it holds its dedup keys. */
function closedChanges(
  operation: OperationRecord,
  state: 'denied' | 'expired',
  now: number,
  holdMs: number,
): RecordChanges {
  const code = state === 'denied' ? 'approval_denied' : 'approval_expired';
  const keys = keysAfterSettlement(operation, now, { holdMs });
  return { state, outcome: 'not_executed', code, settledAt: now, ...keys };
}

/** The operation, if its approval can still be decided, or the reason why not. */
function* pendingApproval(
  tables: Tables,
  id: string,
  hash: string,
): Script<DecisionResult | { readonly operation: OperationRecord; readonly approval: Approval }> {
  const operation = yield* tables.operations.get(id);
  if (operation === undefined) return { kind: 'absent' };
  const { approval, state } = operation;
  const shown = toOperation(operation, tables.now);
  if (approval === undefined) return { kind: 'not_waiting', operation: shown };
  if (state === 'expired') return { kind: 'expired', operation: shown };
  if (approval.decision !== undefined) return { kind: 'already', operation: shown };
  if (state !== 'awaiting_approval') return { kind: 'not_waiting', operation: shown };
  if (approval.expiresAt <= tables.now) return { kind: 'expired', operation: shown };
  if (approval.hash !== hash) return { kind: 'changed', operation: shown };
  return { operation, approval };
}

function* writeDecision(
  tables: Tables,
  operation: OperationRecord,
  changes: RecordChanges,
  audit: ReturnType<typeof auditEntry>,
): Script<DecisionResult> {
  const after = yield* tables.operations.update(operation, changes);
  yield* tables.audit.append(audit);
  return { kind: 'decided', operation: toOperation(after, tables.now) };
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
  return toOperation(after, tables.now);
}

/** The agent that made the call gives it up before it is executed. */
export function* withdraw(tables: Tables, id: string, by: string): Script<boolean> {
  const operation = yield* tables.operations.get(id);
  if (operation?.state !== 'awaiting_approval') return false;
  const after = yield* tables.operations.update(operation, {
    ...closedChanges(operation, 'denied', tables.now, 0),
    code: 'cancelled',
  });
  yield* tables.notifications.withdraw('approval_requested', id);
  yield* tables.audit.append(auditEntry('withdrawn', after, by));
  return true;
}

export function* expireApproval(
  tables: Tables,
  id: string,
  holdMs: number,
): Script<Operation | undefined> {
  const operation = yield* tables.operations.get(id);
  if (operation?.state !== 'awaiting_approval') return undefined;
  if (operation.approval === undefined || operation.approval.expiresAt > tables.now)
    return undefined;
  const changes = closedChanges(operation, 'expired', tables.now, holdMs);
  const after = yield* tables.operations.update(operation, changes);
  yield* tables.audit.append(auditEntry('approval_expired', after, 'toolkeel'));
  return toOperation(after, tables.now);
}
