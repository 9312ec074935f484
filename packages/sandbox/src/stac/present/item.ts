import type { JsonObject } from '../../json.js';
import { assetsOf, type AssetFacts } from '../assets.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { transformOf, type Scene } from '../catalogue/scene.js';
import type { Traits } from '../flavours.js';
import { GEOJSON_TYPE, link, type Link, type ApiUrls } from '../api/http.js';
import type { AssetTemplate, BandTemplate, Extension } from '../catalogue/product.js';

interface Choice {
  readonly links?: readonly Link[];
  readonly withAssets?: boolean;
}

/** A scene as a STAC item. */
export function presentItem(
  catalogue: Catalogue,
  scene: Scene,
  traits: Traits,
  urls: ApiUrls,
  { links = itemLinks(scene, urls), withAssets = true }: Choice = {},
): JsonObject {
  const product = catalogue.product(scene.collection);
  const facts = product && withAssets ? assetsOf(product, scene, catalogue.seed) : [];
  return {
    type: 'Feature',
    stac_version: traits.stacVersion,
    stac_extensions: extensionUrls(product?.extensions ?? [], traits),
    id: scene.id,
    collection: scene.collection,
    geometry: { ...scene.footprint.geometry },
    bbox: scene.footprint.bbox,
    properties:
      traits.stacVersion === '1.1.0' ? scene.properties : withEpsgNumber(scene.properties),
    links,
    assets: Object.fromEntries(
      facts.map((asset) => [asset.template.key, assetOf(asset, scene, traits, urls)]),
    ),
  };
}

function itemLinks({ collection, id }: Scene, { href }: ApiUrls): Link[] {
  const parent = `/collections/${collection}`;
  return [
    link('self', href(`${parent}/items/${id}`), GEOJSON_TYPE),
    link('parent', href(parent)),
    link('collection', href(parent)),
    link('root', href('')),
  ];
}

/** Before version 2 the projection extension has an EPSG number instead of a code. */
function withEpsgNumber({ 'proj:code': code, ...properties }: JsonObject): JsonObject {
  if (code === undefined) return properties;
  return {
    ...properties,
    'proj:epsg': typeof code === 'string' ? Number(code.split(':')[1]) : null,
  };
}

function assetOf(
  { template, bytes, declaresSize, declaresShape, shape }: AssetFacts,
  { collection, id, grid }: Scene,
  traits: Traits,
  urls: ApiUrls,
): JsonObject {
  const { title, type, roles, gsd, resolution = gsd } = template;
  return {
    href: urls.asset(collection, id, template.file),
    title,
    type,
    roles,
    ...(gsd !== undefined && { gsd }),
    ...(declaresSize && traits.assetDetail === 'rich' && { 'file:size': bytes }),
    ...(declaresShape && shape && { 'proj:shape': shape }),
    ...(declaresShape &&
      grid?.code &&
      resolution !== undefined && { 'proj:transform': transformOf(grid, resolution) }),
    ...bandsOf(template, traits),
  };
}

/** Bands in the format of STAC 1.1, or in the two lists of the 1.0 extensions. */
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

/** The versions of the extensions for STAC 1.1 and 1.0. */
const versions: Readonly<Record<Extension, readonly [current: string, old: string]>> = {
  eo: ['v2.0.0', 'v1.1.0'],
  projection: ['v2.0.0', 'v1.1.0'],
  raster: ['v2.0.0', 'v1.1.0'],
  file: ['v2.1.0', 'v2.1.0'],
  grid: ['v1.1.0', 'v1.0.0'],
  view: ['v1.0.0', 'v1.0.0'],
  sat: ['v1.0.0', 'v1.0.0'],
  sar: ['v1.0.0', 'v1.0.0'],
};

/** The schemas of the extensions in use; `bare` items omit the raster and file extensions. */
function extensionUrls(names: readonly Extension[], traits: Traits): string[] {
  const used =
    traits.assetDetail === 'rich' ? names : names.filter((it) => it !== 'raster' && it !== 'file');
  const which = traits.stacVersion === '1.1.0' ? 0 : 1;
  return used.map(
    (name) => `https://stac-extensions.github.io/${name}/${versions[name][which]}/schema.json`,
  );
}
