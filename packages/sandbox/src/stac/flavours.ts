import type { FieldsRule } from './search/fields.js';

type FilterLanguage = 'cql2-text' | 'cql2-json';

/** The server's capabilities, which determine its conformance classes, links and routes. */
interface Capabilities {
  /** `/collections`, `/collections/{id}/items` and `/conformance`. */
  readonly features: boolean;
  readonly postSearch: boolean;
  readonly fields: boolean;
  readonly sort: boolean;
  readonly query: boolean;
  readonly filter: readonly FilterLanguage[];
  readonly aggregation: boolean;
  readonly collectionSearch: boolean;
  readonly freeText: boolean;
}

/** The server's behaviour where STAC servers differ. */
export interface Traits extends Capabilities {
  /** The path of the landing page. */
  readonly basePath: string;
  readonly stacVersion: '1.0.0' | '1.1.0';
  /** The version in the conformance classes of the STAC API. */
  readonly apiVersion: string;
  /** Whether links are absolute, or relative to their document. */
  readonly hrefs: 'absolute' | 'relative';
  /** The query parameter of the next page. */
  readonly pageParameter: 'token' | 'next' | 'page';
  /**
   * The content of a `next` link of a POST: the whole body; the whole body and `merge: false`; or the token,
   * to be merged into the previous body.
   */
  readonly postPaging: 'whole-body' | 'whole-body-unmerged' | 'merge';
  /** Elasticsearch-based servers end with an empty page. */
  readonly endsWithEmptyPage: boolean;
  readonly counts: readonly ('numberMatched' | 'numberReturned' | 'context')[];
  readonly maxLimit: number;
  readonly overMaxLimit: 'clamp' | 'refuse';
  /** The gateway in front of the server rejects larger responses. */
  readonly maxAnswerBytes: number | undefined;
  /** Whether sort keys must be qualified as `properties.x`. */
  readonly sortNames: 'qualified' | 'any';
  readonly fieldsRule: FieldsRule;
  readonly unknownParameters: 'refuse' | 'ignore';
  /** Whether a filter with an unknown property fails, or matches nothing. */
  readonly unknownProperties: 'refuse' | 'ignore';
  readonly errorBody: 'stac' | 'detail';
  /** The body of an outage: the server's format, its gateway's, or an HTML page. */
  readonly outageBody: 'stac' | 'message' | 'html';
  readonly collectionsPage: number | undefined;
  readonly collectionsParameter: 'token' | 'offset';
  readonly etags: boolean;
  /** Whether items declare file sizes and data types. */
  readonly assetDetail: 'rich' | 'bare';
  /** Whether asset URLs must be signed. */
  readonly signedAssets: boolean;
  /** Whether assets have an origin of their own. */
  readonly assetHost: 'same' | 'separate';
}

export type Flavour = 'full' | 'minimal' | 'pgstac' | 'earth-search' | 'planetary-computer';

/** All specified features, with strict validation. */
const full: Traits = {
  features: true,
  postSearch: true,
  fields: true,
  sort: true,
  query: true,
  filter: ['cql2-text', 'cql2-json'],
  aggregation: true,
  collectionSearch: true,
  freeText: true,
  basePath: '',
  stacVersion: '1.1.0',
  apiVersion: 'v1.0.0',
  hrefs: 'absolute',
  pageParameter: 'token',
  postPaging: 'merge',
  endsWithEmptyPage: false,
  counts: ['numberMatched', 'numberReturned'],
  maxLimit: 10_000,
  overMaxLimit: 'refuse',
  maxAnswerBytes: undefined,
  sortNames: 'any',
  fieldsRule: 'default-set',
  unknownParameters: 'refuse',
  unknownProperties: 'refuse',
  errorBody: 'stac',
  outageBody: 'stac',
  collectionsPage: 4,
  collectionsParameter: 'token',
  etags: true,
  assetDetail: 'rich',
  signedAssets: false,
  assetHost: 'same',
};

/** An old, small server: core and GET search. It ignores unknown parameters. */
const minimal: Traits = {
  ...full,
  features: false,
  postSearch: false,
  fields: false,
  sort: false,
  query: false,
  filter: [],
  aggregation: false,
  collectionSearch: false,
  freeText: false,
  stacVersion: '1.0.0',
  apiVersion: 'v1.0.0-rc.1',
  hrefs: 'relative',
  pageParameter: 'page',
  counts: [],
  maxLimit: 1000,
  overMaxLimit: 'clamp',
  unknownParameters: 'ignore',
  unknownProperties: 'ignore',
  collectionsPage: undefined,
  etags: false,
};

/** Like stac-fastapi on PostgreSQL. */
const pgstac: Traits = {
  ...full,
  aggregation: false,
  basePath: '/stac',
  postPaging: 'whole-body',
  counts: ['numberReturned'],
  overMaxLimit: 'refuse',
  fieldsRule: 'exact',
  unknownParameters: 'ignore',
  collectionsPage: 10,
  collectionsParameter: 'offset',
  etags: false,
};

/** Like stac-server behind Amazon API Gateway, which rejects responses above 6 MB. */
const earthSearch: Traits = {
  ...full,
  filter: ['cql2-json'],
  collectionSearch: false,
  freeText: false,
  basePath: '/v1',
  stacVersion: '1.0.0',
  pageParameter: 'next',
  postPaging: 'whole-body-unmerged',
  endsWithEmptyPage: true,
  counts: ['numberMatched', 'numberReturned', 'context'],
  overMaxLimit: 'clamp',
  maxAnswerBytes: 6_000_000,
  sortNames: 'qualified',
  fieldsRule: 'exact',
  unknownParameters: 'ignore',
  unknownProperties: 'ignore',
  outageBody: 'message',
  collectionsPage: undefined,
  etags: false,
  assetHost: 'separate',
};

/** Like Microsoft Planetary Computer: signed assets with little metadata, and errors of a front door. */
const planetaryComputer: Traits = {
  ...pgstac,
  basePath: '/api/stac/v1',
  stacVersion: '1.0.0',
  maxLimit: 1000,
  counts: [],
  freeText: false,
  collectionSearch: false,
  collectionsPage: undefined,
  errorBody: 'detail',
  outageBody: 'html',
  assetDetail: 'bare',
  signedAssets: true,
  assetHost: 'separate',
};

export const flavours: Readonly<Record<Flavour, Traits>> = {
  full,
  minimal,
  pgstac,
  'earth-search': earthSearch,
  'planetary-computer': planetaryComputer,
};

const STAC = 'https://api.stacspec.org';
const FEATURES = 'http://www.opengis.net/spec/ogcapi-features';
const CQL2 = 'http://www.opengis.net/spec/cql2/1.0/conf';

/** The conformance classes that the server implements. */
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
    `${CQL2}/basic-spatial-functions`,
    `${CQL2}/property-property`,
  ];
}
