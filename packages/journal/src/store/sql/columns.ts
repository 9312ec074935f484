import { JournalError } from '../../error.js';
import type { Approval, Step } from '../../operation.js';
import type { OperationRecord, RecordChanges } from '../record.js';
import type { Row } from '../script.js';
import type { Dialect } from './dialect.js';

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

/** All that a new operation fills, in the order of `toValues`. */
export const COLUMNS: readonly string[] = [
  ...plain.map(([, column]) => column),
  'identity_by',
  'identity_value',
  'steps',
  'approval',
  'approval_decision',
  'approval_decided_at',
  'approval_expires_at',
];

export function toValues(record: OperationRecord): readonly unknown[] {
  const { identity, steps, approval } = record;
  return [
    ...plain.map(([member]) => record[member] ?? null),
    identity.by,
    identity.value,
    JSON.stringify(steps),
    ...approvalValues(approval),
  ];
}

/** The columns that a change touches, with their values. An approval also fills those that are searched. */
export function changedColumns(changes: RecordChanges): {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
} {
  const names: string[] = [];
  const values: unknown[] = [];
  for (const member of Object.keys(changes) as (keyof RecordChanges)[]) {
    if (member === 'steps') {
      names.push('steps');
      values.push(JSON.stringify(changes.steps));
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

/** All columns, or one JSON text with all of them. */
export function columnsOf({ packs }: Dialect): string {
  if (!packs) return '*';
  return `json_object(${COLUMNS.map((name) => `'${name}', ${name}`).join(', ')}) AS packed`;
}

const NONE: readonly Step[] = [];

export function toRecord({ packed, ...cells }: Row): OperationRecord {
  const row = packed === undefined ? cells : (JSON.parse(packed as string) as Row);
  const record: Record<string, unknown> = {
    identity: { by: row['identity_by'], value: row['identity_value'] },
    // Most have none, and are read three times.
    steps: row['steps'] === '[]' ? NONE : parsed(row, 'steps'),
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
