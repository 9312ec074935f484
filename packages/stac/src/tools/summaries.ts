import { compact, docOf, docsOf, listOf, numberOf, textOf, textsOf, type Doc } from '../json.js';
import { oneLine } from '../text.js';
import { ALL_ASSETS, assetDetails, pickAssets, thumbnailUrl } from './assets.js';

/** The essentials of an item, to choose among many; with `wanted`, URLs of these assets. */
export function itemSummary(item: Doc, wanted?: readonly string[]): Doc {
  const properties = docOf(item['properties']) ?? {};
  return {
    ...compact({
      id: item['id'],
      collection: textOf(item['collection']),
      datetime: textOf(properties['datetime']),
      start_datetime: textOf(properties['start_datetime']),
      end_datetime: textOf(properties['end_datetime']),
      bbox: Array.isArray(item['bbox']) ? item['bbox'] : undefined,
      cloud_cover: numberOf(properties['eo:cloud_cover']),
      platform: textOf(properties['platform']),
      gsd: numberOf(properties['gsd']),
      thumbnail: thumbnailUrl(item),
    }),
    assets: wanted
      ? assetDetails(pickAssets(item, wanted))
      : Object.keys(docOf(item['assets']) ?? {}),
  };
}

/** One item, with its simple properties and where its assets are. */
export function itemDetails(item: Doc, wanted: readonly string[] = [ALL_ASSETS]): Doc {
  const properties = Object.entries(docOf(item['properties']) ?? {}).filter(
    ([, value]) => typeof value !== 'object' || value === null,
  );
  return {
    ...compact({
      id: item['id'],
      collection: textOf(item['collection']),
      bbox: item['bbox'],
      geometry: item['geometry'],
      thumbnail: thumbnailUrl(item),
    }),
    properties: Object.fromEntries(properties),
    assets: assetDetails(pickAssets(item, wanted)),
  };
}

const DESCRIPTION_LENGTH = 200;

export function collectionSummary(collection: Doc): Doc {
  const extent = docOf(collection['extent']);
  const [bbox] = listOf(docOf(extent?.['spatial'])?.['bbox']);
  const [interval] = listOf(docOf(extent?.['temporal'])?.['interval']);
  const description = textOf(collection['description']);
  const keywords = textsOf(collection['keywords']);
  return compact({
    id: collection['id'],
    title: textOf(collection['title']),
    description: description && oneLine(description, DESCRIPTION_LENGTH),
    license: textOf(collection['license']),
    bbox: Array.isArray(bbox) ? bbox : undefined,
    interval: Array.isArray(interval) ? interval : undefined,
    keywords: keywords.length > 0 ? keywords.slice(0, 12) : undefined,
  });
}

/** A whole collection without its links: for us to follow, not for a caller to read. */
export function withoutLinks(doc: Doc): Doc {
  const { links: _links, ...rest } = doc;
  return rest;
}

export function providersOf(doc: Doc): readonly string[] {
  return docsOf(doc['providers']).flatMap((provider) => textOf(provider['name']) ?? []);
}
