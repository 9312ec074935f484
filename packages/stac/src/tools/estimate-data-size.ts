import type * as z from 'zod';
import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import { countOf, docOf, isDoc, textOf, type Doc } from '../json.js';
import { createEffort } from '../plane/effort.js';
import type { Scope } from '../scope.js';
import { asGeometry, flat } from '../search/bbox.js';
import { geometryOf, readCriteria, type Criteria } from '../search/criteria.js';
import { searchItems, type Found } from '../search/search.js';
import { fractionsInside, type FractionOf } from '../size/aoi.js';
import {
  estimateAssets,
  METHODS,
  totalOf,
  type AssetFacts,
  type AssetSize,
  type SizeMethod,
} from '../size/estimate.js';
import { headSizes, type Heads } from '../size/heads.js';
import { knownSize } from '../size/known-size.js';
import { rawSize } from '../size/raw-size.js';
import { catalogTool } from './tool.js';
import { estimateDataSizeSpec, type part } from './specs/estimate-data-size.js';

interface Entry {
  readonly key: string;
  readonly href: string | undefined;
  readonly facts: AssetFacts;
}

const MAX_ASSET_ROWS = 60;

export const estimateDataSize = (client: Client) =>
  catalogTool(estimateDataSizeSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const area = args.aoi_geojson && geometryOf('aoi_geojson', args.aoi_geojson);
    const given = readCriteria(args);
    const criteria: Criteria =
      area && !given.bbox && !given.intersects ? { ...given, intersects: area } : given;
    const found = await searchItems(client, catalog, criteria, { limit: args.limit }, scope);
    const inside = area ?? areaOf(criteria);
    const fractionOf = await fractionsInside(inside, found.items, createEffort(scope.signal));
    const entries = found.items.flatMap((item) => entriesOf(item, args.assets, fractionOf));
    const heads = args.force_metadata_only
      ? NO_HEADS
      : await headsFor(client, catalog, entries, scope);
    const sizes = estimateAssets(
      entries.map(({ href, facts }) => ({
        ...facts,
        head: (href && heads.sizes.get(href)) || undefined,
      })),
    );
    const whole = found.items.length === 0 ? NOTHING : totalOf(sizes, false);
    const { matched } = found;
    const unclear = found.items.filter((item) => fractionOf(item) === undefined).length;
    return {
      catalog: catalog.name,
      item_count: found.items.length,
      asset_count: entries.length,
      matched: matched ?? null,
      estimated_size_bytes: whole?.bytes ?? null,
      estimated_size_mb: scaled(whole?.bytes, 2),
      estimated_size_gb: scaled(whole?.bytes, 3),
      low_bytes: whole?.low ?? null,
      high_bytes: hasUnknown(sizes) ? null : (whole?.high ?? null),
      all_matched_bytes: extrapolated(whole?.bytes, found.items.length, matched),
      aoi: inside ? aoiOf(sizes, found.items.length) : null,
      coverage: coverageOf(sizes),
      by_asset: byAsset(entries, sizes),
      warnings: [
        ...found.warnings,
        ...warningsOf(sizes, { found, entries, heads, wanted: args.assets }),
        ...(inside && unclear > 0
          ? [
              `The part inside the area could not be told for ${unclear} items; all of them is counted.`,
            ]
          : []),
      ],
    };
  });

const NO_HEADS: Heads = { sizes: new Map(), unasked: 0 };
const NOTHING = { bytes: 0, low: 0, high: 0 };

/** Nobody can say how large the whole is at most, if nobody knows how large a part of it is. */
function hasUnknown(sizes: readonly AssetSize[]): boolean {
  return sizes.some(({ method }) => method === 'unknown');
}

function warningsOf(
  sizes: readonly AssetSize[],
  about: {
    readonly found: Found;
    readonly entries: readonly Entry[];
    readonly heads: Heads;
    readonly wanted: readonly string[] | undefined;
  },
): readonly string[] {
  const { found, entries, heads, wanted = [] } = about;
  const unknown = sizes.filter(({ method }) => method === 'unknown').length;
  const keys = new Set(entries.map(({ key }) => key));
  const absent = found.items.length > 0 ? wanted.filter((key) => !keys.has(key)) : [];
  return [
    ...(found.next ? ['There are more items: raise `limit` to look at more of them.'] : []),
    ...(absent.length > 0 ? [`No item has an asset ${absent.slice(0, 10).join(', ')}.`] : []),
    ...(unknown > 0
      ? [`The size of ${unknown} of ${sizes.length} assets is unknown, and in none of the sums.`]
      : []),
    ...(heads.unasked > 0
      ? [`${heads.unasked} files were not asked for their size, because there are too many.`]
      : []),
  ];
}

function areaOf({ bbox, intersects }: Criteria): Doc | undefined {
  const box = bbox && flat(bbox);
  return intersects ?? (box && asGeometry(box));
}

function entriesOf(
  item: Doc,
  wanted: readonly string[] | undefined,
  fractionOf: FractionOf,
): readonly Entry[] {
  const fraction = fractionOf(item) ?? 1;
  return Object.entries(docOf(item['assets']) ?? {}).flatMap(([key, asset]) => {
    if (!isDoc(asset) || (wanted && !wanted.includes(key))) return [];
    const group = `${textOf(item['collection']) ?? ''}/${key}`;
    const facts = { group, fraction, known: knownSize(asset), raw: rawSize(asset, item) };
    return [{ key, href: textOf(asset['href']), facts }];
  });
}

/** Only files of which the metadata says nothing are asked for. */
async function headsFor(
  client: Client,
  catalog: Catalog,
  entries: readonly Entry[],
  scope: Scope,
): Promise<Heads> {
  const hrefs = entries.flatMap(({ href, facts: { known, raw } }) =>
    href !== undefined && known === undefined && raw === undefined ? [href] : [],
  );
  return headSizes(client, catalog, hrefs, scope);
}

/** To six digits, wherever they are: a small size is not nothing. */
function scaled(value: number | undefined, power: number): number | null {
  return value === undefined ? null : Number((value / 1024 ** power).toPrecision(6));
}

function extrapolated(
  value: number | undefined,
  items: number,
  matched: number | undefined,
): number | null {
  if (value === undefined || matched === undefined || matched < items) return null;
  return items === 0 ? 0 : (countOf(Math.round((value / items) * matched)) ?? null);
}

function aoiOf(sizes: readonly AssetSize[], items: number) {
  const clipped = items === 0 ? NOTHING : totalOf(sizes, true);
  const weights = sizes.map(({ bytes: size, fraction }) => [size ?? 0, fraction] as const);
  const weight = weights.reduce((sum, [size]) => sum + size, 0);
  const inside = weights.reduce((sum, [size, fraction]) => sum + size * fraction, 0);
  const plain = sizes.reduce((sum, { fraction }) => sum + fraction, 0) / Math.max(1, sizes.length);
  return {
    fraction: Math.min(1, weight > 0 ? inside / weight : plain),
    clipped_size_bytes: clipped?.bytes ?? null,
    low_bytes: clipped?.low ?? null,
    high_bytes: hasUnknown(sizes) ? null : (clipped?.high ?? null),
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

function byAsset(entries: readonly Entry[], sizes: readonly AssetSize[]) {
  const keys = [...new Set(entries.map(({ key }) => key))];
  return keys.slice(0, MAX_ASSET_ROWS).map((key) => {
    const of = sizes.filter((_, index) => entries[index]?.key === key);
    return {
      asset: key,
      assets: of.length,
      bytes: totalOf(of, false)?.bytes ?? null,
      unknown: of.filter(({ method }) => method === 'unknown').length,
    };
  });
}
