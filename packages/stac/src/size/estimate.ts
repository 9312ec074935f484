import { medianOf } from '../search/statistics.js';

/** How the size of an asset was determined. */
export const METHODS = ['file_size', 'proj_shape', 'head', 'inferred', 'unknown'] as const;
export type SizeMethod = (typeof METHODS)[number];

/** How the pixels of a file are encoded; `mask` is a single 8-bit band. */
export type Encoding = 'jpeg2000' | 'mask' | 'raster';

/** The known facts about an asset. */
export interface AssetFacts {
  /** Assets with the same key in the same collection form a group with similar sizes. */
  readonly group: string;
  /** The exact size from the metadata. */
  readonly known?: number | undefined;
  /** The exact size from a HEAD request. */
  readonly head?: number | undefined;
  /** The uncompressed size of the pixels with data. */
  readonly raw?: number | undefined;
  readonly encoding?: Encoding | undefined;
  /** The share of its item that is inside the area of interest. */
  readonly fraction: number;
}

export interface AssetSize {
  readonly method: SizeMethod;
  readonly group: string;
  readonly fraction: number;
  /** If the size is unknown, all three are undefined. */
  readonly bytes?: number;
  readonly low?: number;
  readonly high?: number;
}

interface Range {
  readonly low: number;
  readonly typical: number;
  readonly high: number;
}

/**
 * The file size relative to the uncompressed pixels, if no file of the group was measured (ADR 065).
 * `high` is an uncompressed file with overviews. `low` is a scene at the edge of a swath or an empty
 * mask, which compress to almost nothing.
 */
const PRIORS: Readonly<Record<Encoding, Range>> = {
  jpeg2000: { low: 0.0001, typical: 0.4, high: 1.1 },
  mask: { low: 0.0001, typical: 0.15, high: 1.4 },
  raster: { low: 0.0001, typical: 0.6, high: 1.4 },
};
/** Headers, tile indexes and embedded metadata, which matter for small rasters. */
const OVERHEAD_BYTES = 65_536;

/**
 * How far another file may lie beyond the measured ones of its group; narrower with more measurements.
 * A compression ratio also has a natural upper bound, a size does not.
 */
const RATIO_MARGIN = { low: 200, high: 200 };
const SIZE_MARGIN = { low: 200, high: 40 };
const LEAST_MARGIN = 1.25;

/** Estimates each asset by the best available method. */
export function estimateAssets(assets: readonly AssetFacts[]): readonly AssetSize[] {
  const measured = new Map([...byGroup(assets)].map(([group, list]) => [group, measure(list)]));
  return assets.map((asset) => {
    const { group, fraction } = asset;
    return { group, fraction, ...sizeOf(asset, measured.get(group)!) };
  });
}

export function byGroup<T extends { readonly group: string }>(
  assets: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const asset of assets) {
    const list = groups.get(asset.group);
    if (list) list.push(asset);
    else groups.set(asset.group, [asset]);
  }
  return groups;
}

/** The exact sizes of a group, in bytes and relative to the uncompressed pixels. */
interface Measured {
  readonly sizes: readonly number[];
  readonly ratios: readonly number[];
}

function measure(assets: readonly AssetFacts[]): Measured {
  const exact = assets.flatMap(({ known, head, raw }) => {
    const size = known ?? head;
    return size === undefined ? [] : [{ size, raw }];
  });
  return {
    sizes: exact.map(({ size }) => size),
    ratios: exact.flatMap(({ size, raw }) => (raw === undefined ? [] : [size / raw])),
  };
}

function sizeOf(
  { known, head, raw, encoding = 'raster' }: AssetFacts,
  { sizes, ratios }: Measured,
): Omit<AssetSize, 'group' | 'fraction'> {
  if (known !== undefined) return { method: 'file_size', bytes: known, low: known, high: known };
  if (head !== undefined) return { method: 'head', bytes: head, low: head, high: head };
  const estimate =
    raw === undefined
      ? sizes.length > 0 && rangeOf(sizes, SIZE_MARGIN)
      : fromPixels(raw, PRIORS[encoding], ratios);
  // Malformed metadata can lead to sizes beyond the safe integers.
  if (!estimate || estimate.high > Number.MAX_SAFE_INTEGER) return { method: 'unknown' };
  const { low, typical: bytes, high } = estimate;
  return { method: raw === undefined ? 'inferred' : 'proj_shape', bytes, low, high };
}

/** Uses the compression ratio of the group if measured, else the prior. */
function fromPixels(raw: number, prior: Range, ratios: readonly number[]): Range {
  const measured = ratios.length > 0 ? rangeOf(ratios, RATIO_MARGIN) : prior;
  const low = Math.min(measured.typical, Math.max(measured.low, prior.low));
  const limit = ratios.reduce((most, ratio) => Math.max(most, ratio * LEAST_MARGIN), prior.high);
  const high = Math.min(measured.high, limit);
  return { low: raw * low, typical: raw * measured.typical, high: raw * high + OVERHEAD_BYTES };
}

/** The median and the measured range with a margin. */
function rangeOf(values: readonly number[], margin: { low: number; high: number }): Range {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    low: sorted[0]! / (LEAST_MARGIN + margin.low / sorted.length),
    typical: medianOf(sorted),
    high: sorted.at(-1)! * (LEAST_MARGIN + margin.high / sorted.length),
  };
}

export interface Total {
  readonly bytes: number;
  readonly low: number;
  readonly high: number;
}

/** The sum of the known sizes, optionally clipped to the area; undefined if no size is known or the sum overflows. */
export function totalOf(sizes: readonly AssetSize[], clipped: boolean): Total | undefined {
  const known = sizes.filter(({ bytes }) => bytes !== undefined);
  if (known.length === 0) return undefined;
  const sum = (member: 'bytes' | 'low' | 'high', round: (value: number) => number) =>
    round(
      known.reduce((total, size) => total + (size[member] ?? 0) * (clipped ? size.fraction : 1), 0),
    );
  const total = {
    bytes: sum('bytes', Math.round),
    low: sum('low', Math.floor),
    high: sum('high', Math.ceil),
  };
  return Number.isSafeInteger(total.high) ? total : undefined;
}

/**
 * Extrapolates from the estimated items to all matching ones: the mean as the estimate and the extremes
 * as the range, because the first items of a list are not a random sample.
 */
export function extrapolate(items: readonly Total[], matched: number): Total | undefined {
  if (items.length === 0 || matched < items.length) return undefined;
  const sum = (member: keyof Total) => items.reduce((total, item) => total + item[member], 0);
  const rest = matched - items.length;
  const total = {
    bytes: Math.round((sum('bytes') / items.length) * matched),
    low: sum('low') + rest * items.reduce((least, { low }) => Math.min(least, low), Infinity),
    high: sum('high') + rest * items.reduce((most, { high }) => Math.max(most, high), 0),
  };
  return Number.isSafeInteger(total.high) ? total : undefined;
}
