import type { Step } from '../../operation.js';
import {
  auditEntry,
  isHeldBy,
  isSettled,
  openStep,
  type OperationRecord,
  view,
} from '../record.js';
import type { Script } from '../script.js';
import type { FencingToken, Limit, SendRequest, SendResult } from '../store.js';
import type { Hit, Tables } from '../tables.js';
import { haveDifferentKeys } from './dedup-keys.js';
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
  yield* tables.audit.append(auditEntry('send', after, fencingToken.owner, detail));
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

const LOST = { kind: 'lost' } as const;

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

/** All of them or none. What is reported is the one that takes longest. */
function* claimLimits(
  { limits: table }: Tables,
  limits: readonly Limit[],
  by: Pick<Hit, 'operation' | 'send'>,
): Script<(SendResult & { kind: 'limited' }) | undefined> {
  const lasting = longestWindows(limits);
  // Always in the same order, so that two of us never wait for each other.
  const now = yield* table.lock([...lasting.keys()].toSorted());

  let worst: (SendResult & { kind: 'limited' }) | undefined;
  for (const limit of limits) {
    const retryAfterMs = yield* waitOf(table, limit, now);
    if (retryAfterMs > (worst?.retryAfterMs ?? 0)) worst = { kind: 'limited', limit, retryAfterMs };
  }
  if (worst !== undefined) return worst;

  const hits = [...lasting].map(([name, ms]) => ({ ...by, name, at: now, expiresAt: now + ms }));
  yield* table.add(hits);
  return undefined;
}

/** 0 when there is room: fewer than `max` were counted within the window. */
function* waitOf(table: Tables['limits'], limit: Limit, now: number): Script<number> {
  if (limit.max < 1) return limit.windowMs;
  const { last, nth } = yield* table.newest(limit.name, limit.max);
  // The clock was set back. How long ago it really was nobody knows; from now on it grows older.
  if (last !== undefined && last > now) yield* table.pullBack(limit.name, now);
  return nth === undefined ? 0 : Math.max(0, Math.min(nth, now) + limit.windowMs - now);
}

/** What counts under one name is counted once, however many windows look at it. */
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

/** Also one that lapsed meanwhile: nobody else has it, and its former owner knows. */
function* unsettledHeldBy(
  tables: Tables,
  fencingToken: FencingToken,
): Script<OperationRecord | undefined> {
  const operation = yield* tables.operations.get(fencingToken.id);
  if (!isHeldBy(operation, fencingToken) || isSettled(operation)) return undefined;
  return operation;
}

/** Somebody may have been told that nobody knows the end of this step. Of another one he is told anew. */
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
    // Whoever lapsed meanwhile knows of this step, and sends no other.
    owner: operation.state === 'unknown' ? undefined : operation.owner,
    outcome: undefined,
    steps,
  });
  yield* tables.audit.append(auditEntry(kind, after, fencingToken.owner, { step }));
  return true;
}
