import { medianOf } from '../search/statistics.js';

/** How the size of an asset came to be known. */
export const METHODS = ['file_size', 'proj_shape', 'head', 'inferred', 'unknown'] as const;
export type SizeMethod = (typeof METHODS)[number];

/** An asset before anybody has estimated it. */
export interface AssetFacts {
  /** Assets of one group are alike: the same band of the same collection. */
  readonly group: string;
  /** From the metadata, exact. */
  readonly known?: number | undefined;
  /** From a HEAD request, exact. */
  readonly head?: number | undefined;
  /** Its pixels, uncompressed. */
  readonly raw?: number | undefined;
  /** The share of its item that is inside the area of interest. */
  readonly fraction: number;
}

export interface AssetSize {
  readonly method: SizeMethod;
  readonly group: string;
  readonly fraction: number;
  /** All three undefined together: nobody knows. */
  readonly bytes?: number;
  readonly low?: number;
  readonly high?: number;
}

interface Ratio {
  readonly low: number;
  readonly typical: number;
  readonly high: number;
}

/**
 * Compressed files against their pixels, where nothing better is known: deflated 16-bit scenes come
 * to about half; overviews add a third to what does not compress at all.
 */
const USUAL_RATIO: Ratio = { low: 0.1, typical: 0.55, high: 1.35 };
/** With fewer assets of which both sizes are known, the usual ratio says more. */
const ENOUGH = 3;

/** The size of each asset: by the best method that there is for it. */
export function estimateAssets(assets: readonly AssetFacts[]): readonly AssetSize[] {
  const ratio = observedRatio(assets) ?? USUAL_RATIO;
  const groups = sizesByGroup(assets);
  return assets.map((asset) => {
    const { group, fraction } = asset;
    return { group, fraction, ...sizeOf(asset, ratio, groups.get(group)) };
  });
}

function sizeOf(
  { known, head, raw }: AssetFacts,
  ratio: Ratio,
  likes: Ratio | undefined,
): Omit<AssetSize, 'group' | 'fraction'> {
  if (known !== undefined) return { method: 'file_size', bytes: known, low: known, high: known };
  if (head !== undefined) return { method: 'head', bytes: head, low: head, high: head };
  const guess = raw === undefined ? likes && scaled(1, likes) : scaled(raw, ratio);
  // Strange metadata can lead to sizes that nobody can count to.
  if (!guess || guess.high > Number.MAX_SAFE_INTEGER) return { method: 'unknown' };
  return { method: raw === undefined ? 'inferred' : 'proj_shape', ...guess };
}

function scaled(size: number, { low, typical, high }: Ratio) {
  return { bytes: size * typical, low: size * low, high: size * high };
}

/** How well the files of this very answer compress, as far as it shows. */
function observedRatio(assets: readonly AssetFacts[]): Ratio | undefined {
  const ratios = assets.flatMap(({ known, head, raw }) => {
    const exact = known ?? head;
    return exact !== undefined && raw !== undefined ? [exact / raw] : [];
  });
  return ratios.length >= ENOUGH ? spread(ratios) : undefined;
}

/** What is known of a group's sizes stands for those of which nothing is known. */
function sizesByGroup(assets: readonly AssetFacts[]): ReadonlyMap<string, Ratio> {
  const exact = new Map<string, number[]>();
  for (const { group, known, head } of assets) {
    const size = known ?? head;
    if (size !== undefined) exact.set(group, [...(exact.get(group) ?? []), size]);
  }
  return new Map([...exact].map(([group, sizes]) => [group, spread(sizes)]));
}

/** The median, with a margin around what was seen: the next one may be a little beyond it. */
function spread(values: readonly number[]): Ratio {
  const sorted = values.toSorted((a, b) => a - b);
  const margin = sorted.length === 1 ? 2 : 1.25;
  return { low: sorted[0]! / margin, typical: medianOf(sorted), high: sorted.at(-1)! * margin };
}

export interface Total {
  readonly bytes: number;
  readonly low: number;
  readonly high: number;
}

/** The sum of what is known; undefined if nothing is, or if it is beyond counting. Weighted by the share inside the area. */
export function totalOf(sizes: readonly AssetSize[], clipped: boolean): Total | undefined {
  const known = sizes.filter(({ bytes }) => bytes !== undefined);
  if (known.length === 0) return undefined;
  const sum = (member: 'bytes' | 'low' | 'high') =>
    Math.round(
      known.reduce((total, size) => total + (size[member] ?? 0) * (clipped ? size.fraction : 1), 0),
    );
  const total = { bytes: sum('bytes'), low: sum('low'), high: sum('high') };
  return Number.isSafeInteger(total.high) ? total : undefined;
}
