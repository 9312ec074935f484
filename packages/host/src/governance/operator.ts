import type {
  Decided,
  Journal,
  JournalStore,
  OperationFilter,
  OperationState,
} from '@toolkeel/journal';
import { didYouMean } from '@toolkeel/pack-kit/base';

/** The part of the journal that is for operators. No tool gives access to it. */
export interface OperatorJournal extends Pick<
  Journal,
  'operations' | 'approvals' | 'counts' | 'processId' | 'flushCalls'
> {
  readonly store: JournalStore;
}

/** A filter is invalid. The message says which values are valid. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

const STATES: Readonly<Record<OperationState, true>> = {
  claimed: true,
  sending: true,
  succeeded: true,
  rejected: true,
  unknown: true,
  reconciled: true,
  awaiting_approval: true,
  denied: true,
  expired: true,
  released: true,
};

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_LIMIT = 1000;

type FilterInput = Readonly<
  Partial<Record<'state' | 'tool' | 'account' | 'since' | 'until' | 'before', string>>
> & { readonly limit?: string | number };

/** Parses a filter for operations from command-line flags or query parameters. */
export function operationFilter(input: FilterInput, now: number): OperationFilter {
  const { state, tool, account, since, until, limit, before } = input;
  return {
    ...(state !== undefined && { states: state.split(',').map(readState) }),
    ...(tool !== undefined && { tool }),
    ...(account !== undefined && { account }),
    ...(since !== undefined && { since: readMoment('since', since, now) }),
    ...(until !== undefined && { until: readMoment('until', until, now) }),
    ...(limit !== undefined && { limit: readLimit(limit) }),
    ...(before !== undefined && { before }),
  };
}

/** Parses a date such as `2026-05-01`, a time such as `2026-05-01T12:00:00Z`, or an age: `30m`, `2h`, `7d`. */
export function readMoment(name: string, text: string, now: number): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (Number.isFinite(at)) return at;
  throw new FilterError(
    `${name} must be a time such as 2026-05-01T12:00:00Z, or an age such as 30m, 2h or 7d`,
  );
}

function readState(text: string): OperationState {
  const known = Object.keys(STATES);
  if (Object.hasOwn(STATES, text)) return text as OperationState;
  throw new FilterError(
    `There is no state "${text.slice(0, 40)}".${didYouMean(text, known)} States: ${known.join(', ')}`,
  );
}

export function readLimit(given: string | number): number {
  const limit = Number(given);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new FilterError(`limit must be a whole number from 1 to ${MAX_LIMIT}`);
}

type ConflictKind = Exclude<Decided['kind'], 'decided'>;

interface Conflict {
  readonly message: string;
  readonly whatToDo: string;
}

const CONFLICTS: Readonly<Record<Exclude<ConflictKind, 'changed'>, Conflict>> = {
  already: {
    message: 'The operation has already been decided.',
    whatToDo: 'Show the operation to see the decision.',
  },
  expired: {
    message: 'The approval has expired.',
    whatToDo: 'The agent has to request it again.',
  },
  not_waiting: {
    message: 'The operation does not await approval.',
    whatToDo: 'Show the operation to see its state.',
  },
};

/** Explains to the operator why a decision had no effect. */
export function explainConflict({
  kind,
  operation,
}: Decided & { readonly kind: ConflictKind }): Conflict {
  if (kind !== 'changed') return CONFLICTS[kind];
  const { edited_by: by, edited_at: at, edited } = operation.approval ?? {};
  if (!edited) {
    return {
      message: 'The hash does not match: it is not the hash of the arguments of this operation.',
      whatToDo: 'Show the operation, and copy its whole hash.',
    };
  }
  const when = by === undefined || at === undefined ? '' : ` by ${by} at ${at}`;
  return {
    message: `The hash does not match the arguments, which were edited${when}.`,
    whatToDo: 'Show the operation again, and decide with its present hash.',
  };
}
