import type { JsonObject } from '../../json.js';
import type { AssetTemplate, BandTemplate } from '../catalogue/product.js';
import type { Traits } from '../flavour/traits.js';

/** Bands as STAC 1.1 writes them, or as the extensions of 1.0 did: in two lists side by side. */
export function bandsOf({ bands = [] }: AssetTemplate, traits: Traits): JsonObject {
  if (bands.length === 0) return {};
  const rich = traits.assetDetail === 'rich';
  if (traits.stacVersion === '1.1.0') return { bands: bands.map((band) => current(band, rich)) };
  return {
    'eo:bands': bands.map(({ name, commonName }) => ({
      name,
      ...(commonName !== undefined && { common_name: commonName }),
    })),
    ...(rich && {
      'raster:bands': bands.map(({ dataType, nodata }) => ({
        data_type: dataType,
        ...sparse(nodata),
      })),
    }),
  };
}

function current({ name, commonName, dataType, nodata }: BandTemplate, rich: boolean): JsonObject {
  return {
    name,
    ...(commonName !== undefined && { 'eo:common_name': commonName }),
    ...(rich && { data_type: dataType, ...sparse(nodata) }),
  };
}

function sparse(nodata: number | undefined): JsonObject {
  return nodata === undefined ? {} : { nodata };
}
