import type { JsonObject } from '../../json.js';
import { assetsOf, type AssetFacts } from '../catalogue/assets.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { transformOf, type Scene } from '../catalogue/scene.js';
import type { Traits } from '../flavour/traits.js';
import { bandsOf } from './bands.js';
import { extensionUrls } from './extensions.js';
import { GEOJSON_TYPE, link, type Link, type Places } from './links.js';

interface Choice {
  readonly links?: readonly Link[];
  readonly withAssets?: boolean;
}

/** A scene as the server's clients see it. */
export function itemOf(
  catalogue: Catalogue,
  scene: Scene,
  traits: Traits,
  places: Places,
  { links = itemLinks(scene, places), withAssets = true }: Choice = {},
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
    properties: traits.stacVersion === '1.1.0' ? scene.properties : asBefore(scene.properties),
    links,
    assets: Object.fromEntries(
      facts.map((asset) => [asset.template.key, assetOf(asset, scene, traits, places)]),
    ),
  };
}

function itemLinks({ collection, id }: Scene, { href }: Places): Link[] {
  const parent = `/collections/${collection}`;
  return [
    link('self', href(`${parent}/items/${id}`), GEOJSON_TYPE),
    link('parent', href(parent)),
    link('collection', href(parent)),
    link('root', href('')),
  ];
}

/** The projection extension before version 2: a number instead of a code. */
function asBefore({ 'proj:code': code, ...properties }: JsonObject): JsonObject {
  if (code === undefined) return properties;
  return {
    ...properties,
    'proj:epsg': typeof code === 'string' ? Number(code.split(':')[1]) : null,
  };
}

function assetOf(
  { template, bytes, tellsSize, tellsShape, shape }: AssetFacts,
  { collection, id, grid }: Scene,
  traits: Traits,
  places: Places,
): JsonObject {
  const { title, type, roles, gsd, resolution = gsd } = template;
  return {
    href: places.asset(collection, id, template.file),
    title,
    type,
    roles,
    ...(gsd !== undefined && { gsd }),
    ...(tellsSize && traits.assetDetail === 'rich' && { 'file:size': bytes }),
    ...(tellsShape && shape && { 'proj:shape': shape }),
    ...(tellsShape &&
      grid?.code &&
      resolution !== undefined && { 'proj:transform': transformOf(grid, resolution) }),
    ...bandsOf(template, traits),
  };
}
