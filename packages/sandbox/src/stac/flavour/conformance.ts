import type { Traits } from './traits.js';

const STAC = 'https://api.stacspec.org';
const FEATURES = 'http://www.opengis.net/spec/ogcapi-features';
const CQL2 = 'http://www.opengis.net/spec/cql2/1.0/conf';

/** The classes that the server really keeps. */
export function conformanceOf(traits: Traits): string[] {
  const stac = `${STAC}/${traits.apiVersion}`;
  const filtering = traits.filter.length > 0;
  const extensions = [
    ...(traits.fields ? ['fields'] : []),
    ...(traits.sort ? ['sort'] : []),
    ...(traits.query ? ['query'] : []),
    ...(filtering ? ['filter'] : []),
    ...(traits.freeText ? ['free-text'] : []),
  ];
  return [
    `${stac}/core`,
    `${stac}/item-search`,
    ...extensions.map((name) => `${stac}/item-search#${name}`),
    ...(traits.features ? featureClasses(stac, extensions) : []),
    ...(filtering ? filterClasses(traits) : []),
    ...(traits.aggregation
      ? ['', '#query', '#filter'].map((part) => `${STAC}/v0.3.0/aggregation${part}`)
      : []),
    ...(traits.collectionSearch
      ? [
          `${STAC}/v1.0.0-rc.1/collection-search`,
          'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/simple-query',
        ]
      : []),
    ...(traits.collectionSearch && traits.freeText
      ? [`${STAC}/v1.0.0-rc.1/collection-search#free-text`]
      : []),
  ];
}

function featureClasses(stac: string, extensions: readonly string[]): string[] {
  return [
    `${stac}/collections`,
    `${stac}/ogcapi-features`,
    ...extensions
      .filter((name) => name !== 'filter')
      .map((name) => `${stac}/ogcapi-features#${name}`),
    `${FEATURES}-1/1.0/conf/core`,
    `${FEATURES}-1/1.0/conf/oas30`,
    `${FEATURES}-1/1.0/conf/geojson`,
  ];
}

function filterClasses({ filter, features }: Traits): string[] {
  return [
    `${FEATURES}-3/1.0/conf/filter`,
    ...(features ? [`${FEATURES}-3/1.0/conf/features-filter`] : []),
    ...filter.map((language) => `${CQL2}/${language}`),
    `${CQL2}/basic-cql2`,
    `${CQL2}/advanced-comparison-operators`,
    `${CQL2}/case-insensitive-comparison`,
    `${CQL2}/basic-spatial-functions`,
    `${CQL2}/basic-spatial-functions-plus`,
    `${CQL2}/temporal-functions`,
    `${CQL2}/property-property`,
  ];
}
