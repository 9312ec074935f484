import type { Step } from '../../operation.js';
import {
  auditEntry,
  isHeldBy,
  isSettled,
  openStep,
  type OperationRecord,
  toOperation,
} from '../record.js';
import type { Script } from '../script.js';
import type { FencingToken, Limit, SendRequest, SendResult } from '../store.js';
import type { Hit, Tables } from '../tables.js';
import { haveDifferentKeys, keysOf, type MutableChanges } from './dedup-keys.js';
import { releaseCompensated } from './settle.js';

export function* send(
  tables: Tables,
  fencingToken: FencingToken,
  request: SendRequest,
): Script<SendResult> {
  const { step, limits, releases, exclusive } = request;
  const operation = yield* tables.operations.held(fencingToken);
  if (operation === undefined || !maySend(operation, fencingToken.owner, step)) return LOST;

  const rival = exclusive === true ? yield* unknownWithOtherKey(tables, operation) : undefined;
  if (rival) return { kind: 'conflict', operation: toOperation(rival, tables.now) };

  const sends = operation.sends + 1;
  if (limits.length > 0) {
    const limited = yield* claimLimits(tables, limits, { operation: fencingToken.id, send: sends });
    if (limited !== undefined) return limited;
  }

  const at = tables.now;
  const changes: MutableChanges = { state: 'sending', sendingAt: at, sends };
  if (step !== undefined)
    changes.steps = withOpenStep(operation.steps, step, fencingToken.owner, at);
  // The result of an earlier attempt does not apply to this one.
  if (operation.outcome !== undefined || operation.answer !== undefined)
    changes.outcome = changes.answer = changes.code = undefined;
  const after = yield* tables.operations.update(operation, changes);
  if (releases !== undefined) yield* releaseCompensated(tables, releases, fencingToken.owner);
  const detail = sendDetail(after, request);
  yield* tables.audit.append(auditEntry('send', after, fencingToken.owner, detail));
  return { kind: 'sent', at };
}

function sendDetail(
  { correlationId, fence, sends }: OperationRecord,
  { step, rule, cost }: SendRequest,
): Record<string, unknown> {
  const detail: Record<string, unknown> =
    step === undefined ? { correlationId, fence } : { correlationId, step, fence };
  if (rule !== undefined) detail['rule'] = rule;
  // Only with the first send, so that the sum over the audit is the total cost.
  if (cost !== undefined && sends === 1) detail['cost'] = cost;
  return detail;
}

/** An unknown operation with the same content and another explicit key, which may have been executed. */
function* unknownWithOtherKey(
  { operations }: Tables,
  operation: OperationRecord,
): Script<OperationRecord | undefined> {
  const content = contentKeyOf(operation);
  if (content === undefined) return undefined;
  const matches = yield* operations.withContent(content);
  return matches.find(
    (other) =>
      other.id !== operation.id &&
      other.state === 'unknown' &&
      haveDifferentKeys(other, keysOf(operation)),
  );
}

/** The scoped key of the content, as last edited. */
function contentKeyOf({
  dedupKey,
  scopedKey,
  editedDedupKey,
  contentDedupKey,
}: OperationRecord): string | undefined {
  return editedDedupKey ?? (dedupKey.by === 'content' ? scopedKey : contentDedupKey);
}

const LOST = { kind: 'lost' } as const;

function maySend(operation: OperationRecord, owner: string, name: string | undefined): boolean {
  const open = openStep(operation);
  if (operation.state === 'claimed') return open === undefined && !hasStep(operation, name);
  if (operation.state !== 'sending') return false;
  // A further attempt at the same request, by the owner that made the first.
  return (
    open === name && operation.steps.every((step) => step.name !== name || step.owner === owner)
  );
}

function hasStep({ steps }: OperationRecord, name: string | undefined): boolean {
  return steps.some((step) => step.name === name);
}

function withOpenStep(
  steps: readonly Step[],
  name: string,
  owner: string,
  at: number,
): readonly Step[] {
  return [...steps.filter((step) => step.name !== name), { name, state: 'sending', at, owner }];
}

/** Counts the send in all limits, or in none if one is exceeded; returns the one with the longest delay. */
function* claimLimits(
  { limits: table }: Tables,
  limits: readonly Limit[],
  by: Pick<Hit, 'operation' | 'send'>,
): Script<(SendResult & { kind: 'limited' }) | undefined> {
  const windows = longestWindows(limits);
  // In a fixed order, to avoid deadlocks.
  const now = yield* table.lock([...windows.keys()].toSorted());

  let worst: (SendResult & { kind: 'limited' }) | undefined;
  for (const limit of limits) {
    const retryAfterMs = yield* retryDelay(table, limit, now);
    if (retryAfterMs > (worst?.retryAfterMs ?? 0)) worst = { kind: 'limited', limit, retryAfterMs };
  }
  if (worst !== undefined) return worst;

  const hits = [...windows].map(([name, ms]) => ({ ...by, name, at: now, expiresAt: now + ms }));
  yield* table.add(hits);
  return undefined;
}

/** 0 if fewer than `max` sends were counted within the window. */
/** The limits that would refuse a send now. */
export function* limitsReached(
  { limits: table, now }: Tables,
  limits: readonly Limit[],
): Script<readonly { readonly limit: Limit; readonly retryAfterMs: number }[]> {
  const reached = [];
  for (const limit of limits) {
    const { nth } =
      limit.max < 1 ? { nth: now } : yield* table.newest(limit.name, Math.max(1, limit.max));
    const retryAfterMs = nth === undefined ? 0 : Math.min(nth, now) + limit.windowMs - now;
    if (retryAfterMs > 0) reached.push({ limit, retryAfterMs });
  }
  return reached;
}

function* retryDelay(table: Tables['limits'], limit: Limit, now: number): Script<number> {
  if (limit.max < 1) return limit.windowMs;
  const { last, nth } = yield* table.newest(limit.name, limit.max);
  // The clock was set back: later entries count as sent now and age from here.
  if (last !== undefined && last > now) yield* table.clampTo(limit.name, now);
  return nth === undefined ? 0 : Math.max(0, Math.min(nth, now) + limit.windowMs - now);
}

/** Limits with different windows share one entry per counter, kept for the longest window. */
function longestWindows(limits: readonly Limit[]): ReadonlyMap<string, number> {
  const longest = new Map<string, number>();
  for (const { name, windowMs } of limits) {
    longest.set(name, Math.max(windowMs, longest.get(name) ?? 0));
  }
  return longest;
}

export function* completeStep(
  tables: Tables,
  fencingToken: FencingToken,
  name: string,
  result: string,
): Script<boolean> {
  const operation = yield* unsettledHeldBy(tables, fencingToken);
  if (operation === undefined) return false;
  const earlier = operation.steps.find((step) => step.name === name);
  if (earlier?.state === 'done') return true;
  const done: Step = { name, state: 'done', result, at: tables.now };
  const steps = [...operation.steps.filter((step) => step !== earlier), done];
  yield* withdrawNotification(tables, operation, earlier, fencingToken);
  return yield* writeSteps(tables, operation, fencingToken, 'step_done', name, steps);
}

export function* reopenStep(
  tables: Tables,
  fencingToken: FencingToken,
  name: string,
): Script<boolean> {
  const operation = yield* unsettledHeldBy(tables, fencingToken);
  const open = operation?.steps.find((step) => step.name === name && step.state === 'sending');
  if (operation === undefined || open === undefined) return false;
  const steps = operation.steps.filter((step) => step !== open);
  yield* withdrawNotification(tables, operation, open, fencingToken);
  return yield* writeSteps(tables, operation, fencingToken, 'step_reopened', name, steps);
}

/** Accepts an owner whose lease has expired, as long as the fence matches: it knows the outcome. */
function* unsettledHeldBy(
  tables: Tables,
  fencingToken: FencingToken,
): Script<OperationRecord | undefined> {
  const operation = yield* tables.operations.get(fencingToken.id);
  if (!isHeldBy(operation, fencingToken) || isSettled(operation)) return undefined;
  return operation;
}

/** Withdraws the notification of a step that was unknown; a later unknown step is notified again. */
function* withdrawNotification(
  tables: Tables,
  { id, state }: OperationRecord,
  step: Step | undefined,
  { owner }: FencingToken,
): Script<void> {
  const isOwn = state !== 'unknown' && (step === undefined || step.owner === owner);
  if (!isOwn) yield* tables.notifications.withdraw('operation_unknown', id);
}

function* writeSteps(
  tables: Tables,
  operation: OperationRecord,
  fencingToken: FencingToken,
  kind: string,
  step: string,
  steps: readonly Step[],
): Script<true> {
  const after = yield* tables.operations.update(operation, {
    state: 'claimed',
    // An owner whose lease has expired may report this step but not send the next one.
    owner: operation.state === 'unknown' ? undefined : operation.owner,
    outcome: undefined,
    steps,
  });
  yield* tables.audit.append(auditEntry(kind, after, fencingToken.owner, { step }));
  return true;
}
