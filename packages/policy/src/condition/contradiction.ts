import type { Bounds, Count, Operators, Scalar } from '../config/types.js';
import { isEmptyRange, within } from './compare.js';

const counted = ['links', 'mentions', 'hashtags', 'cashtags'] as const;

/** Why no single value can satisfy all of these; undefined if one may. */
export function contradictionIn(all: readonly Operators[]): string | undefined {
  const isAbsent = all.some(({ exists }) => exists === false);
  const asksMore = all.some(
    (one) => Object.keys(one).some((key) => key !== 'exists') || one.exists,
  );
  if (isAbsent && asksMore) return 'it cannot be missing and have a value';
  if (isEmptyRange(all)) return 'no number lies between these bounds';
  if (
    isEmptyRange(
      all.flatMap(({ length }) => length ?? []),
      0,
    )
  )
    return 'no length fits';
  for (const mark of counted) {
    const counts = all.flatMap((one) => countBounds(one[mark]));
    if (isEmptyRange(counts, 0)) return `no number of ${mark} fits`;
  }
  return leavesNoValue(all) ? 'no value is left' : undefined;
}

function countBounds(count: Count | undefined): Bounds[] {
  if (count === undefined) return [];
  if (typeof count === 'object') return [count];
  return [count ? { gte: 1 } : { lte: 0 }];
}

function leavesNoValue(all: readonly Operators[]): boolean {
  const wanted = all.flatMap(({ equals, in: list }) => [
    ...(equals === undefined ? [] : [[equals]]),
    ...(list === undefined ? [] : [list]),
  ]);
  const unwanted = all.flatMap(({ notEquals, notIn = [] }): readonly Scalar[] =>
    notEquals === undefined ? notIn : [notEquals, ...notIn],
  );
  const [first, ...others] = wanted;
  const left = first?.filter(
    (value) =>
      others.every((list) => list.includes(value)) &&
      !unwanted.includes(value) &&
      all.every((one) => typeof value !== 'number' || within(value, one) === 'yes'),
  );
  return left?.length === 0;
}
