import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  objectsOf,
  oneLine,
  stringOf,
  stringsOf,
  type JsonObject,
} from '@toolkeel/pack-kit';
import { ALL_ASSETS, assetDetails, pickAssets, thumbnailUrl } from './assets.js';

/** The essential members of an item; with `wanted`, the URLs of these assets. */
export function itemSummary(item: JsonObject, wanted?: readonly string[]): JsonObject {
  const properties = objectOf(item['properties']) ?? {};
  return {
    ...compact({
      id: item['id'],
      collection: stringOf(item['collection']),
      datetime: stringOf(properties['datetime']),
      start_datetime: stringOf(properties['start_datetime']),
      end_datetime: stringOf(properties['end_datetime']),
      bbox: Array.isArray(item['bbox']) ? item['bbox'] : undefined,
      cloud_cover: numberOf(properties['eo:cloud_cover']),
      platform: stringOf(properties['platform']),
      gsd: numberOf(properties['gsd']),
      thumbnail: thumbnailUrl(item),
    }),
    assets: wanted
      ? assetDetails(pickAssets(item, wanted))
      : Object.keys(objectOf(item['assets']) ?? {}),
  };
}

/** An item with its scalar properties and asset URLs. */
export function itemDetails(
  item: JsonObject,
  wanted: readonly string[] = [ALL_ASSETS],
): JsonObject {
  const properties = Object.entries(objectOf(item['properties']) ?? {}).filter(
    ([, value]) => typeof value !== 'object' || value === null,
  );
  return {
    ...compact({
      id: item['id'],
      collection: stringOf(item['collection']),
      bbox: item['bbox'],
      geometry: item['geometry'],
      thumbnail: thumbnailUrl(item),
    }),
    properties: Object.fromEntries(properties),
    assets: assetDetails(pickAssets(item, wanted)),
  };
}

const DESCRIPTION_LENGTH = 200;

export function collectionSummary(collection: JsonObject): JsonObject {
  const extent = objectOf(collection['extent']);
  const [bbox] = arrayOf(objectOf(extent?.['spatial'])?.['bbox']);
  const [interval] = arrayOf(objectOf(extent?.['temporal'])?.['interval']);
  const description = stringOf(collection['description']);
  const keywords = stringsOf(collection['keywords']);
  return compact({
    id: collection['id'],
    title: stringOf(collection['title']),
    description: description && oneLine(description, DESCRIPTION_LENGTH),
    license: stringOf(collection['license']),
    bbox: Array.isArray(bbox) ? bbox : undefined,
    interval: Array.isArray(interval) ? interval : undefined,
    keywords: keywords.length > 0 ? keywords.slice(0, 12) : undefined,
  });
}

/** Links are followed by the pack; callers do not need them. */
export function withoutLinks(doc: JsonObject): JsonObject {
  const { links: _links, ...rest } = doc;
  return rest;
}

export function providersOf(doc: JsonObject): readonly string[] {
  return objectsOf(doc['providers']).flatMap((provider) => stringOf(provider['name']) ?? []);
}
