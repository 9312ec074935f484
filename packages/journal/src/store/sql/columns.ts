import { isDamage, JournalError } from '../../error.js';
import type { Approval, Step } from '../../operation.js';
import type { ListedRecord, OperationRecord, RecordChanges } from '../record.js';
import type { Row } from '../script.js';
import type { Dialect } from './dialect.js';

type Plain = Exclude<keyof OperationRecord, 'dedupKey' | 'steps' | 'approval'>;

/** The columns of members that are stored as they are. */
const PLAIN = {
  id: 'id',
  scopedKey: 'dedup_key',
  account: 'account',
  tool: 'tool',
  effect: 'effect',
  argsHash: 'args_hash',
  args: 'args',
  state: 'state',
  outcome: 'outcome',
  fence: 'fence',
  owner: 'owner',
  correlationId: 'correlation_id',
  createdAt: 'created_at',
  sendingAt: 'sending_at',
  settledAt: 'settled_at',
  heldUntil: 'held_until',
  answer: 'answer',
  code: 'code',
  sends: 'sends',
  notBefore: 'not_before',
  key: 'given_key',
  secondaryDedupKey: 'secondary_dedup_key',
  secondaryUntil: 'secondary_until',
  contentDedupKey: 'content_dedup_key',
  editedDedupKey: 'edited_dedup_key',
  contentUntil: 'content_until',
  windowMs: 'window_ms',
  deliveredAt: 'delivered_at',
} as const satisfies Record<Plain, string>;

/** The columns of a new operation with one dedup key, in the order of `newValues`. */
export const NEW_COLUMNS = [
  'id',
  'dedup_key',
  'account',
  'tool',
  'effect',
  'dedup_key_by',
  'dedup_key_value',
  'args_hash',
  'args',
  'state',
  'fence',
  'owner',
  'correlation_id',
  'created_at',
  'sends',
  'steps',
] as const;

export function newValues(record: OperationRecord): unknown[] {
  return [
    record.id,
    record.scopedKey,
    record.account,
    record.tool,
    record.effect,
    record.dedupKey.by,
    record.dedupKey.value,
    record.argsHash,
    record.args,
    record.state,
    record.fence,
    record.owner,
    record.correlationId,
    record.createdAt,
    record.sends,
    JSON.stringify(record.steps),
  ];
}

/** The columns of a new operation with further dedup keys, in the order of `namedValues`. */
export const NAMED_COLUMNS = [
  ...NEW_COLUMNS,
  'given_key',
  'secondary_dedup_key',
  'content_dedup_key',
] as const;

export function namedValues(record: OperationRecord): unknown[] {
  return [...newValues(record), record.key, record.secondaryDedupKey, record.contentDedupKey];
}

/**
 * The columns and values of a change. Fields of the approval that are searched have columns of their
 * own. With `before`, unchanged members are left out.
 */
export function changedColumns(
  changes: RecordChanges,
  before?: OperationRecord,
): {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
} {
  const names: string[] = [];
  const values: unknown[] = [];
  for (const member of Object.keys(changes) as (keyof RecordChanges)[]) {
    if (before !== undefined && before[member] === changes[member]) continue;
    if (member === 'steps') {
      names.push('steps');
      values.push(JSON.stringify(changes.steps));
    } else if (member === 'dedupKey') {
      names.push('dedup_key_by', 'dedup_key_value');
      values.push(changes.dedupKey?.by, changes.dedupKey?.value);
    } else if (member === 'approval') {
      names.push('approval', 'approval_decision', 'approval_decided_at', 'approval_expires_at');
      values.push(...approvalValues(changes.approval));
    } else {
      names.push(PLAIN[member]);
      values.push(changes[member] ?? null);
    }
  }
  return { names, values };
}

function approvalValues(approval: Approval | undefined): readonly unknown[] {
  if (approval === undefined) return [null, null, null, null];
  const { decision = null, decidedAt = null, expiresAt } = approval;
  return [JSON.stringify(approval), decision, decidedAt, expiresAt];
}

/** In the order of `recordOf`. */
const READ_COLUMNS = [
  ...NEW_COLUMNS,
  'outcome',
  'sending_at',
  'settled_at',
  'held_until',
  'answer',
  'code',
  'not_before',
  'approval',
  'given_key',
  'secondary_dedup_key',
  'secondary_until',
  'content_dedup_key',
  'edited_dedup_key',
  'content_until',
  'window_ms',
  'delivered_at',
] as const;

/** All columns, or one JSON array of them. */
export function columnsOf({ packsRows }: Dialect): string {
  return packsRows ? `json_array(${READ_COLUMNS.join(', ')}) AS packed` : READ_COLUMNS.join(', ');
}

export function toRecord(row: Row): OperationRecord {
  return recordOf(cellsOf(row));
}

/** Reads a damaged row without its unreadable parts, and sets `damaged`. */
export function toListedRecord(row: Row): ListedRecord {
  const cells = cellsOf(row);
  try {
    return recordOf(cells);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { ...recordOf(cells.with(STEPS, '[]').with(APPROVAL, null)), damaged: error.message };
  }
}

function cellsOf(row: Row): readonly unknown[] {
  const { packed } = row;
  return packed === undefined
    ? READ_COLUMNS.map((column) => row[column])
    : (JSON.parse(packed as string) as readonly unknown[]);
}

const STEPS = 15;
const APPROVAL = 23;

/** Spelled out, because it runs three times per operation. */
function recordOf(cells: readonly unknown[]): OperationRecord {
  const record: Record<keyof OperationRecord, unknown> = {
    id: cells[0],
    account: cells[2],
    tool: cells[3],
    effect: cells[4],
    dedupKey: { by: cells[5], value: cells[6] },
    key: cells[24] ?? undefined,
    argsHash: cells[7],
    args: cells[8],
    state: cells[9],
    outcome: cells[16] ?? undefined,
    fence: cells[10],
    owner: cells[11] ?? undefined,
    correlationId: cells[12],
    createdAt: cells[13],
    sendingAt: cells[17] ?? undefined,
    settledAt: cells[18] ?? undefined,
    heldUntil: cells[19] ?? undefined,
    answer: cells[20] ?? undefined,
    code: cells[21] ?? undefined,
    steps: cells[STEPS] === '[]' ? NO_STEPS : parsed(cells, STEPS, Array.isArray),
    approval: cells[APPROVAL] === null ? undefined : parsed(cells, APPROVAL, isObject),
    scopedKey: cells[1] ?? undefined,
    secondaryDedupKey: cells[25] ?? undefined,
    secondaryUntil: cells[26] ?? undefined,
    contentDedupKey: cells[27] ?? undefined,
    editedDedupKey: cells[28] ?? undefined,
    contentUntil: cells[29] ?? undefined,
    windowMs: cells[30] ?? undefined,
    deliveredAt: cells[31] ?? undefined,
    sends: cells[14],
    notBefore: cells[22] ?? undefined,
  };
  return record as unknown as OperationRecord;
}

const NO_STEPS: readonly Step[] = [];

/** Throws if the value is unreadable, because no transition may continue from unknown steps. */
function parsed(
  cells: readonly unknown[],
  at: number,
  isExpected: (value: unknown) => boolean,
): unknown {
  try {
    const value: unknown = JSON.parse(cells[at] as string);
    if (isExpected(value)) return value;
    throw new TypeError('it is of another kind');
  } catch (cause) {
    throw new JournalError(
      'corrupt',
      `Operation ${String(cells[0])} is damaged: its ${READ_COLUMNS[at]} cannot be read. Restore a backup.`,
      { cause },
    );
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
