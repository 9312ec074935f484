import { countOf, docOf, docsOf, numbersOf, textOf, type Doc } from '../json.js';

/** Bytes of one sample, by the names of the raster extension and of STAC 1.1. */
const SAMPLE_BYTES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    int8: 1,
    uint8: 1,
    int16: 2,
    uint16: 2,
    float16: 2,
    int32: 4,
    uint32: 4,
    float32: 4,
    cint16: 4,
    int64: 8,
    uint64: 8,
    float64: 8,
    cint32: 8,
    cfloat32: 8,
    cfloat64: 16,
  }),
);

/** The size of an asset's pixels without compression: its shape times what its bands hold. */
export function rawSize(asset: Doc, item: Doc): number | undefined {
  const properties = docOf(item['properties']) ?? {};
  const own = numbersOf(asset['proj:shape']);
  const types = bandTypes(asset);
  // The item's shape is that of its main grid: it says nothing about a thumbnail or a text file.
  const shape = own ?? (types.length > 0 ? numbersOf(properties['proj:shape']) : undefined);
  if (!shape || shape.length !== 2 || types.length === 0) return undefined;
  const [height = 0, width = 0] = shape.map(countOf);
  const sizes = types.map((type) => (type === undefined ? undefined : SAMPLE_BYTES.get(type)));
  const known = sizes.filter((size) => size !== undefined);
  if (known.length !== sizes.length || height <= 0 || width <= 0) return undefined;
  return countOf(height * width * known.reduce((sum, size) => sum + size, 0));
}

/** The data type of each band; of the asset as a whole where it names bands without types. */
function bandTypes(asset: Doc): readonly (string | undefined)[] {
  const common = textOf(asset['data_type']);
  const bands = [asset['raster:bands'], asset['bands'], asset['eo:bands']]
    .map(docsOf)
    .filter((list) => list.length > 0);
  const typed = bands.find((list) => list.some((band) => band['data_type'] !== undefined));
  if (typed) return typed.map((band) => textOf(band['data_type']) ?? common);
  if (common === undefined) return [];
  return (bands[0] ?? [{}]).map(() => common);
}
