import { isObject, objectOf, stringOf, type JsonObject } from '@toolkeel/pack-kit';
import type * as z from 'zod';
import type { CatalogCall } from '../api/catalog-call.js';
import type { Client } from '../api/client.js';
import { boxToGeometry, toBox } from '../geometry/box.js';
import { fractionsInside, type FractionOf } from '../geometry/overlap.js';
import { createWorkBudget } from '../geometry/shape.js';
import { collectItems } from '../search/collect.js';
import { geometryOf, parseCriteria, type Criteria } from '../search/criteria.js';
import type { SearchResult } from '../search/search.js';
import {
  estimateAssets,
  extrapolate,
  METHODS,
  totalOf,
  type AssetFacts,
  type AssetSize,
  type Encoding,
  type SizeMethod,
  type Total,
} from '../size/estimate.js';
import { headSizes, type HeadSizes } from '../size/heads.js';
import { metadataSize, uncompressedSize } from '../size/metadata.js';
import { estimateDataSizeSpec, type part } from './specs/aggregate.js';
import { catalogTool } from './tool.js';

interface AssetEntry {
  /** The index of its item. */
  readonly item: number;
  readonly key: string;
  readonly href: string | undefined;
  readonly facts: AssetFacts;
}

const MAX_ASSET_ROWS = 60;
/** The number of items that are estimated; the rest is extrapolated. */
const MAX_ITEMS = 200;
/** The share of the remaining time for reading items; HEAD requests need the rest. */
const SHARE_OF_TIME = 0.5;

export const estimateDataSizeTool = (client: Client) =>
  catalogTool(estimateDataSizeSpec, client, async (args, { select }) => {
    const call = select();
    const { catalog } = call;
    const area = args.aoi_geojson && geometryOf('aoi_geojson', args.aoi_geojson);
    const given = parseCriteria(args);
    const criteria: Criteria =
      area && !given.bbox && !given.intersects ? { ...given, intersects: area } : given;
    const limit = Math.min(args.limit, MAX_ITEMS);
    const shareOfTime = SHARE_OF_TIME;
    const found = await collectItems(call, criteria, { limit, shareOfTime });
    const inside = area ?? areaOf(criteria);
    const fractionOf = await fractionsInside(
      inside,
      found.items,
      createWorkBudget(call.context.signal),
    );
    const entries = found.items.flatMap((item, index) =>
      entriesOf(item, index, args.assets, fractionOf),
    );
    const heads = args.force_metadata_only ? NO_HEADS : await headsFor(call, entries);
    const sizes = estimateAssets(
      entries.map(({ href, facts }) => ({
        ...facts,
        head: (href && heads.sizes.get(href)) || undefined,
      })),
    );
    const whole = found.items.length === 0 ? NOTHING : totalOf(sizes, false);
    const isBounded = !sizes.some(({ method }) => method === 'unknown');
    const { matched } = found;
    const all = whole && allMatched(found, entries, sizes);
    const unclear = found.items.filter((item) => fractionOf(item) === undefined).length;
    return {
      catalog: catalog.name,
      item_count: found.items.length,
      asset_count: entries.length,
      matched: matched ?? null,
      estimated_size_bytes: whole?.bytes ?? null,
      estimated_size_mb: scaled(whole?.bytes, 1e6),
      estimated_size_gb: scaled(whole?.bytes, 1e9),
      low_bytes: whole?.low ?? null,
      high_bytes: isBounded ? (whole?.high ?? null) : null,
      all_matched_bytes: all?.bytes ?? null,
      all_matched_low_bytes: all?.low ?? null,
      all_matched_high_bytes: isBounded ? (all?.high ?? null) : null,
      aoi: inside ? aoiOf(sizes, found.items.length, isBounded) : null,
      coverage: coverageOf(sizes),
      by_asset: byAsset(entries, sizes),
      warnings: [
        ...found.warnings,
        ...warningsOf(sizes, { found, entries, heads, wanted: args.assets }),
        ...(inside && unclear > 0
          ? [`The part inside the area is unknown for ${unclear} items; they count in full.`]
          : []),
      ],
    };
  });

const NO_HEADS: HeadSizes = { sizes: new Map(), skipped: 0 };
const NOTHING = { bytes: 0, low: 0, high: 0 };

function warningsOf(
  sizes: readonly AssetSize[],
  about: {
    readonly found: SearchResult;
    readonly entries: readonly AssetEntry[];
    readonly heads: HeadSizes;
    readonly wanted: readonly string[] | undefined;
  },
): readonly string[] {
  const { found, entries, heads, wanted = [] } = about;
  const unknown = sizes.filter(({ method }) => method === 'unknown').length;
  const keys = new Set(entries.map(({ key }) => key));
  const absent = found.items.length > 0 ? wanted.filter((key) => !keys.has(key)) : [];
  return [
    ...(found.next ? [moreItems(found)] : []),
    ...(absent.length > 0 ? [`No item has an asset ${absent.slice(0, 10).join(', ')}.`] : []),
    ...(unknown > 0
      ? [
          `The size of ${unknown} of ${sizes.length} assets is unknown and not included in the sums.`,
        ]
      : []),
    ...(heads.skipped > 0 ? [`${heads.skipped} files exceeded the limit of HEAD requests.`] : []),
  ];
}

function moreItems({ items: { length }, matched }: SearchResult): string {
  const more = `There are more items than the ${length} estimated ones`;
  if (matched !== undefined) return `${more}: all_matched_bytes covers all ${matched}.`;
  return length < MAX_ITEMS
    ? `${more}: raise \`limit\` (at most ${MAX_ITEMS} are estimated).`
    : `${more}. The catalogue does not report the number of matches, so there is no total estimate.`;
}

function areaOf({ bbox, intersects }: Criteria): JsonObject | undefined {
  const box = bbox && toBox(bbox);
  return intersects ?? (box && boxToGeometry(box));
}

function entriesOf(
  item: JsonObject,
  index: number,
  wanted: readonly string[] | undefined,
  fractionOf: FractionOf,
): readonly AssetEntry[] {
  const fraction = fractionOf(item) ?? 1;
  return Object.entries(objectOf(item['assets']) ?? {}).flatMap(([key, asset]) => {
    if (!isObject(asset) || (wanted && !wanted.includes(key))) return [];
    const group = `${stringOf(item['collection']) ?? ''}/${key}`;
    const raw = uncompressedSize(asset, item, key);
    const facts = {
      group,
      fraction,
      known: metadataSize(asset),
      raw: raw?.bytes,
      encoding: encodingOf(asset, raw?.types ?? []),
    };
    return [{ item: index, key, href: stringOf(asset['href']), facts }];
  });
}

function encodingOf(asset: JsonObject, types: readonly string[]): Encoding {
  const isJpeg2000 = (text: string | undefined) => text !== undefined && /jp2|jpeg2000/i.test(text);
  if (isJpeg2000(stringOf(asset['type'])) || /\.(jp2|j2k)$/i.test(stringOf(asset['href']) ?? '')) {
    return 'jpeg2000';
  }
  return types.length === 1 && types[0]!.endsWith('int8') ? 'mask' : 'raster';
}

/** Sends HEAD requests for files without a size in the metadata: exact, unlike pixel counts. */
async function headsFor(call: CatalogCall, entries: readonly AssetEntry[]): Promise<HeadSizes> {
  const candidates = entries.flatMap(({ href, facts: { known, group, raw } }) =>
    href !== undefined && known === undefined ? [{ href, group, raw }] : [],
  );
  return headSizes(call, candidates);
}

/** Rounded to six significant digits, so that a small size does not become 0. */
function scaled(value: number | undefined, unit: number): number | null {
  return value === undefined ? null : Number((value / unit).toPrecision(6));
}

function allMatched(
  { items, matched }: SearchResult,
  entries: readonly AssetEntry[],
  sizes: readonly AssetSize[],
): Total | undefined {
  if (matched === undefined || matched < items.length) return undefined;
  if (items.length === 0) return NOTHING;
  const ofItem: AssetSize[][] = items.map(() => []);
  for (const [index, size] of sizes.entries()) ofItem[entries[index]!.item]!.push(size);
  return extrapolate(
    ofItem.map((own) => totalOf(own, false) ?? NOTHING),
    matched,
  );
}

function aoiOf(sizes: readonly AssetSize[], items: number, isBounded: boolean) {
  const clipped = items === 0 ? NOTHING : totalOf(sizes, true);
  const weights = sizes.map(({ bytes: size, fraction }) => [size ?? 0, fraction] as const);
  const weight = weights.reduce((sum, [size]) => sum + size, 0);
  const inside = weights.reduce((sum, [size, fraction]) => sum + size * fraction, 0);
  const plain = sizes.reduce((sum, { fraction }) => sum + fraction, 0) / Math.max(1, sizes.length);
  return {
    fraction: Math.min(1, weight > 0 ? inside / weight : plain),
    clipped_size_bytes: clipped?.bytes ?? null,
    low_bytes: clipped?.low ?? null,
    high_bytes: isBounded ? (clipped?.high ?? null) : null,
  };
}

function coverageOf(sizes: readonly AssetSize[]) {
  const parts = METHODS.map((method) => {
    const of = sizes.filter((size) => size.method === method);
    return [
      method,
      {
        assets: of.length,
        share: sizes.length === 0 ? 0 : of.length / sizes.length,
        bytes: totalOf(of, false)?.bytes ?? null,
      },
    ] as const;
  });
  return Object.fromEntries(parts) as Record<SizeMethod, z.output<typeof part>>;
}

function byAsset(entries: readonly AssetEntry[], sizes: readonly AssetSize[]) {
  const keys = [...new Set(entries.map(({ key }) => key))];
  return keys.slice(0, MAX_ASSET_ROWS).map((key) => {
    const of = sizes.filter((_, index) => entries[index]?.key === key);
    const total = totalOf(of, false);
    const unknown = of.filter(({ method }) => method === 'unknown').length;
    return {
      asset: key,
      assets: of.length,
      bytes: total?.bytes ?? null,
      low_bytes: total?.low ?? null,
      high_bytes: unknown > 0 ? null : (total?.high ?? null),
      unknown,
    };
  });
}
