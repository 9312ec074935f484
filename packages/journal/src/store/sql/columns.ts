import { JournalError } from '../../error.js';
import type { Approval } from '../../operation.js';
import type { OperationRecord, RecordChanges } from '../record.js';
import type { Row } from '../script.js';

type Plain = Exclude<keyof OperationRecord, 'identity' | 'steps' | 'approval'>;

/** Members that are kept as they are, and what their column is called. */
const PLAIN = {
  id: 'id',
  slot: 'slot',
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
  restsUntil: 'rests_until',
} as const satisfies Record<Plain, string>;

const plain = Object.entries(PLAIN) as readonly (readonly [Plain, string])[];

/** The columns that a change touches, with their values. An approval also fills those that are searched. */
export function toColumns(changes: RecordChanges & Partial<OperationRecord>): [string, unknown][] {
  const columns: [string, unknown][] = [];
  for (const [member, column] of plain) {
    if (member in changes) columns.push([column, changes[member] ?? null]);
  }
  if (changes.identity !== undefined) {
    columns.push(['identity_by', changes.identity.by], ['identity_value', changes.identity.value]);
  }
  if (changes.steps !== undefined) columns.push(['steps', JSON.stringify(changes.steps)]);
  if ('approval' in changes) columns.push(...approvalColumns(changes.approval));
  return columns;
}

function approvalColumns(approval: Approval | undefined): [string, unknown][] {
  return [
    ['approval', approval === undefined ? null : JSON.stringify(approval)],
    ['approval_decision', approval?.decision ?? null],
    ['approval_decided_at', approval?.decidedAt ?? null],
    ['approval_expires_at', approval?.expiresAt ?? null],
  ];
}

export function toRecord(row: Row): OperationRecord {
  const record: Record<string, unknown> = {
    identity: { by: row['identity_by'], value: row['identity_value'] },
    steps: parsed(row, 'steps'),
    approval: row['approval'] === null ? undefined : parsed(row, 'approval'),
  };
  for (const [member, column] of plain) record[member] = row[column] ?? undefined;
  return record as unknown as OperationRecord;
}

/** Whoever cannot read what was done must not go on from there. */
function parsed(row: Row, column: string): unknown {
  try {
    return JSON.parse(row[column] as string);
  } catch (cause) {
    throw new JournalError(
      'corrupt',
      `Operation ${String(row['id'])} is damaged: its ${column} cannot be read. Restore a backup.`,
      { cause },
    );
  }
}
