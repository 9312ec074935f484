import { countOf, docOf, docsOf, numberOf, numbersOf, textOf, type Doc } from '../json.js';
import { SAMPLE_BYTES, usualDataType } from './sensors.js';

/** The pixels of an asset that hold data, uncompressed. */
export interface Raw {
  readonly bytes: number;
  /** The data type of each band. */
  readonly types: readonly string[];
}

/** The pixels of an asset: its shape times what its bands hold, by its metadata or its sensor. */
export function rawSize(asset: Doc, item: Doc, key = ''): Raw | undefined {
  const properties = docOf(item['properties']) ?? {};
  const own = numbersOf(asset['proj:shape']);
  const stated = bandTypes(asset, textOf(asset['data_type']));
  // The item's shape is that of its main grid: it says nothing about a thumbnail or a text file.
  const shape = own ?? (stated.length > 0 ? numbersOf(properties['proj:shape']) : undefined);
  const types =
    stated.length === 0 && own && isImage(asset)
      ? bandTypes(asset, usualDataType(textOf(item['collection']) ?? '', key))
      : stated;
  if (!shape || shape.length !== 2) return undefined;
  const [height = 0, width = 0] = shape.map(countOf);
  const known = types.flatMap((type) => (type !== undefined && SAMPLE_BYTES.has(type) ? type : []));
  if (known.length === 0 || known.length !== types.length) return undefined;
  const perPixel = known.reduce((sum, type) => sum + SAMPLE_BYTES.get(type)!, 0);
  const all = countOf(height * width * perPixel);
  if (all === undefined || all === 0) return undefined;
  return { bytes: Math.ceil(all * dataShare(properties)), types: known };
}

/** Below this, what a file holds besides its pixels counts as much as they do. */
const LEAST_SHARE = 0.01;

/** The share of a scene's pixels that hold data: at the edge of a swath most of a tile is empty. */
function dataShare(properties: Doc): number {
  const empty = numberOf(properties['s2:nodata_pixel_percentage']);
  const filled = numberOf(properties['sentinel:data_coverage']);
  const percent = empty === undefined ? (filled ?? 100) : 100 - empty;
  return percent >= 0 && percent <= 100 ? Math.max(LEAST_SHARE, percent / 100) : 1;
}

/** The data type of each band; `common` where bands are named without types, or not at all. */
function bandTypes(asset: Doc, common: string | undefined): readonly (string | undefined)[] {
  const bands = [asset['raster:bands'], asset['bands'], asset['eo:bands']]
    .map(docsOf)
    .filter((list) => list.length > 0);
  const typed = bands.find((list) => list.some((band) => band['data_type'] !== undefined));
  if (typed) return typed.map((band) => textOf(band['data_type']) ?? common);
  if (common === undefined) return [];
  return (bands[0] ?? [{}]).map(() => common);
}

function isImage(asset: Doc): boolean {
  return textOf(asset['type'])?.startsWith('image/') ?? true;
}
