import type { Extension } from '../catalogue/product.js';
import type { Traits } from '../flavour/traits.js';

const versions: Readonly<Record<Traits['stacVersion'], Readonly<Record<Extension, string>>>> = {
  '1.1.0': {
    eo: 'v2.0.0',
    projection: 'v2.0.0',
    raster: 'v2.0.0',
    file: 'v2.1.0',
    grid: 'v1.1.0',
    view: 'v1.0.0',
    sat: 'v1.0.0',
    sar: 'v1.0.0',
  },
  '1.0.0': {
    eo: 'v1.1.0',
    projection: 'v1.1.0',
    raster: 'v1.1.0',
    file: 'v2.1.0',
    grid: 'v1.0.0',
    view: 'v1.0.0',
    sat: 'v1.0.0',
    sar: 'v1.0.0',
  },
};

/** Schemas of the extensions that are used; a server that tells little does not name those it leaves out. */
export function extensionUrls(names: readonly Extension[], traits: Traits): string[] {
  const told =
    traits.assetDetail === 'rich' ? names : names.filter((it) => it !== 'raster' && it !== 'file');
  return told.map(
    (name) =>
      `https://stac-extensions.github.io/${name}/${versions[traits.stacVersion][name]}/schema.json`,
  );
}
