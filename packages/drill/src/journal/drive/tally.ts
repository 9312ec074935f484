import type { EffectCounts } from '../upstream/effects.js';
import type { StormResult } from './storm.js';

/** What a run came to, in figures that can be added up. */
export interface Tally {
  readonly acts: number;
  readonly calls: number;
  readonly deaths: number;
  /** Committed by the upstream, from its own log. */
  readonly effects: number;
  /** Acts that it committed more than once. */
  readonly duplicates: number;
  readonly replays: number;
  readonly unknown: number;
  /** Callers that were told different things of one act. */
  readonly contradictions: number;
  /** Callers that were never told. */
  readonly limbo: number;
  readonly refused: number;
  /** Calls without an answer in their own time while their server lived. */
  readonly late: number;
  /** Calls that lost their server, and with it their answer. */
  readonly lost: number;
  readonly ms: number;
}

export const nothing: Tally = Object.freeze({
  acts: 0,
  calls: 0,
  deaths: 0,
  effects: 0,
  duplicates: 0,
  replays: 0,
  unknown: 0,
  contradictions: 0,
  limbo: 0,
  refused: 0,
  late: 0,
  lost: 0,
  ms: 0,
});

/** `before`: what the upstream had done when the storm began. */
export function tallyOf(result: StormResult, before: EffectCounts, after: EffectCounts): Tally {
  return {
    acts: result.acts,
    calls: result.calls,
    deaths: result.deaths,
    effects: after.effects - before.effects,
    duplicates: after.duplicates - before.duplicates,
    replays: result.replays,
    unknown: result.ends.unknown,
    contradictions: result.contradictions.length,
    limbo: result.ends.limbo,
    refused: result.ends.refused,
    late: result.late,
    lost: result.codes['lost'] ?? 0,
    ms: result.ms,
  };
}

export function add(a: Tally, b: Tally): Tally {
  const names = Object.keys(nothing) as (keyof Tally)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as Tally;
}

/** What a tally breaks of the promise; nothing where it keeps it. */
export function broken(tally: Tally): readonly string[] {
  const { duplicates, contradictions, limbo, refused, late, unknown } = tally;
  const count = (n: number, what: string) => (n > 0 ? [`${n} ${what}`] : []);
  return [
    ...count(duplicates, 'acts were done twice'),
    ...count(contradictions, 'acts were told in two ways'),
    ...count(limbo, 'callers were never told'),
    ...count(refused, 'callers were refused what they may do'),
    ...count(late, 'calls were not answered in their time'),
    ...count(unknown, 'callers were told "unknown" of an act that can be read back'),
  ];
}
