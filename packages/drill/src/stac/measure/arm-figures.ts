import type { CallRecord } from '../run/record.js';
import type { Arm, ArmName } from '../scenarios.js';
import { curveOf, wallFigures, type Walls } from './walls.js';

/** All calls of an arm taken together. */
export interface ArmFigures extends Walls {
  readonly name: ArmName;
  readonly title: string;
  readonly calls: number;
  readonly successes: number;
  /** How often each code was answered. */
  readonly codes: Readonly<Record<string, number>>;
  /** Successes that do not say the same as without faults. */
  readonly incomplete: number;
  /** What arrived at the upstreams. */
  readonly requests: number;
  readonly hedges: number;
  readonly mostAttempts: number;
  /** Envelopes that are none, and why. */
  readonly mismatches: readonly string[];
  /** Where a call and the upstream's log say different things. */
  readonly contradictions: readonly string[];
  readonly curve: readonly number[];
}

export function armFigures(
  { name, title }: Arm,
  records: readonly CallRecord[],
  baseline: readonly CallRecord[],
): ArmFigures {
  const said = (what: 'mismatch' | 'contradiction') =>
    records.flatMap((record) =>
      record[what] === undefined ? [] : [`${record.tool} ${record.n}: ${record[what]}`],
    );
  return {
    name,
    title,
    calls: records.length,
    ...wallFigures(records),
    successes: count(records, ({ success }) => success),
    codes: tally(records.map(({ code }) => code)),
    incomplete: incompleteAmong(records, baseline),
    requests: sum(records, ({ requests }) => requests),
    hedges: sum(records, ({ hedges }) => hedges),
    mostAttempts: Math.max(0, ...records.map(({ mostAttempts }) => mostAttempts)),
    mismatches: said('mismatch'),
    contradictions: said('contradiction'),
    curve: curveOf(records),
  };
}

/** The arms make the same calls in the same order. */
export function incompleteAmong(
  records: readonly CallRecord[],
  baseline: readonly CallRecord[],
): number {
  return records.filter(
    ({ success, digest }, place) => success && digest !== baseline[place]?.digest,
  ).length;
}

export function count<T>(all: readonly T[], holds: (one: T) => boolean): number {
  return all.filter(holds).length;
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

function tally(texts: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a));
}
