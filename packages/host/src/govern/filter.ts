import type { OperationFilter, OperationState } from '@toolkeel/journal';
import { didYouMean } from '@toolkeel/pack-kit';

/** What was asked for cannot be meant. The message says what to write instead. */
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
const MOST = 1000;

type Given = Readonly<Partial<Record<'state' | 'tool' | 'account' | 'since' | 'until', string>>> & {
  readonly limit?: string | number;
  readonly before?: string;
};

/** Which operations are meant, as somebody wrote it: in a flag, or in an address. */
export function operationFilter(given: Given, now: number): OperationFilter {
  const { state, tool, account, since, until, limit, before } = given;
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

/** A moment such as `2026-05-01`, `2026-05-01T12:00:00Z`, or how long ago: `30m`, `2h`, `7d`. */
export function readMoment(name: string, text: string, now: number): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (Number.isFinite(at)) return at;
  throw new FilterError(
    `${name} must be a time such as 2026-05-01T12:00:00Z, or how long ago: 30m, 2h, 7d`,
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
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new FilterError(`limit must be a whole number from 1 to ${MOST}`);
}
