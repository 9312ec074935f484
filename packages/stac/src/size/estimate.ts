import { medianOf } from '../search/statistics.js';

/** How the size of an asset came to be known. */
export const METHODS = ['file_size', 'proj_shape', 'head', 'inferred', 'unknown'] as const;
export type SizeMethod = (typeof METHODS)[number];

/** How the pixels of a file are encoded; `mask` is a single band of 8 bits, rarely an image. */
export type Encoding = 'jpeg2000' | 'mask' | 'raster';

/** An asset before it is estimated. */
export interface AssetFacts {
  /** Its class: assets of one class are alike, the same asset key of the same collection. */
  readonly group: string;
  /** From the metadata, exact. */
  readonly known?: number | undefined;
  /** From a HEAD request, exact. */
  readonly head?: number | undefined;
  /** Its pixels with data, uncompressed. */
  readonly raw?: number | undefined;
  readonly encoding?: Encoding | undefined;
  /** The share of its item that is inside the area of interest. */
  readonly fraction: number;
}

export interface AssetSize {
  readonly method: SizeMethod;
  readonly group: string;
  readonly fraction: number;
  /** All three undefined together: the size is unknown. */
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
 * Size of a file as a share of its pixels, before any file of its class was measured (ADR 065). The
 * upper end is an uncompressed file with overviews. The lower end is a scene at the edge of a swath
 * or a mask without a hit: both compress to almost nothing.
 */
const PRIORS: Readonly<Record<Encoding, Range>> = {
  jpeg2000: { low: 0.0001, typical: 0.4, high: 1.1 },
  mask: { low: 0.0001, typical: 0.15, high: 1.4 },
  raster: { low: 0.0001, typical: 0.6, high: 1.4 },
};
/** Headers, tile indexes and embedded metadata: they matter for small rasters. */
const OVERHEAD_BYTES = 65_536;

/**
 * How far beyond the measured files of its class another file may lie: less, the more were measured.
 * The ratio of a raster has a natural upper end besides; a size alone has none.
 */
const RATIO_MARGIN = { low: 200, high: 200 };
const SIZE_MARGIN = { low: 200, high: 40 };
const LEAST_MARGIN = 1.25;

/** The size of each asset: by the best method that there is for it. */
export function estimateAssets(assets: readonly AssetFacts[]): readonly AssetSize[] {
  const measured = new Map([...byClass(assets)].map(([group, list]) => [group, measure(list)]));
  return assets.map((asset) => {
    const { group, fraction } = asset;
    return { group, fraction, ...sizeOf(asset, measured.get(group)!) };
  });
}

export function byClass<T extends { readonly group: string }>(
  assets: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const classes = new Map<string, T[]>();
  for (const asset of assets) {
    const list = classes.get(asset.group);
    if (list) list.push(asset);
    else classes.set(asset.group, [asset]);
  }
  return classes;
}

/** The files of a class whose size is known exactly, in bytes and as shares of their pixels. */
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
  const guess =
    raw === undefined
      ? sizes.length > 0 && rangeOf(sizes, SIZE_MARGIN)
      : fromPixels(raw, PRIORS[encoding], ratios);
  // Strange metadata can lead to sizes beyond what a number can count.
  if (!guess || guess.high > Number.MAX_SAFE_INTEGER) return { method: 'unknown' };
  const { low, typical: bytes, high } = guess;
  return { method: raw === undefined ? 'inferred' : 'proj_shape', bytes, low, high };
}

/** By the ratio of its class where some of its files were measured, within what is possible at all. */
function fromPixels(raw: number, prior: Range, ratios: readonly number[]): Range {
  const seen = ratios.length > 0 ? rangeOf(ratios, RATIO_MARGIN) : prior;
  const low = Math.min(seen.typical, Math.max(seen.low, prior.low));
  const limit = ratios.reduce((most, ratio) => Math.max(most, ratio * LEAST_MARGIN), prior.high);
  const high = Math.min(seen.high, limit);
  return { low: raw * low, typical: raw * seen.typical, high: raw * high + OVERHEAD_BYTES };
}

/** The median, with a margin around what was measured. */
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

/** The sum of known sizes, weighted by the share inside the area; undefined if there is none or it is too large to count. */
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
 * The size of all matching items, of which some were estimated: their mean for each of the others,
 * and their extremes as the range, because the first items of a list are no random sample.
 */
export function extrapolate(items: readonly Total[], matched: number): Total | undefined {
  if (items.length === 0 || matched < items.length) return undefined;
  const sum = (member: keyof Total) => items.reduce((total, one) => total + one[member], 0);
  const rest = matched - items.length;
  const total = {
    bytes: Math.round((sum('bytes') / items.length) * matched),
    low: sum('low') + rest * items.reduce((least, { low }) => Math.min(least, low), Infinity),
    high: sum('high') + rest * items.reduce((most, { high }) => Math.max(most, high), 0),
  };
  return Number.isSafeInteger(total.high) ? total : undefined;
}
