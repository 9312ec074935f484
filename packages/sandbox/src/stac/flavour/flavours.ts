import type { Traits } from './traits.js';

export type Flavour = 'full' | 'minimal' | 'pgstac' | 'earth-search' | 'planetary-computer';

/** Everything that the specifications offer, strictly. */
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
  previousPage: 'prev',
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

/** An old, small server: core and search by GET. What it does not know, it ignores. */
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
  previousPage: undefined,
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
  previousPage: 'previous',
  counts: ['numberReturned'],
  overMaxLimit: 'refuse',
  fieldsRule: 'exact',
  unknownParameters: 'ignore',
  collectionsPage: 10,
  collectionsParameter: 'offset',
  etags: false,
};

/** Like stac-server behind Amazon's gateway, which gives up above 6 MB. */
const earthSearch: Traits = {
  ...full,
  filter: ['cql2-json'],
  collectionSearch: false,
  freeText: false,
  basePath: '/v1',
  stacVersion: '1.0.0',
  pageParameter: 'next',
  postPaging: 'whole-body-unmerged',
  previousPage: undefined,
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

/** Like Microsoft's catalogue: assets are signed, items tell little of them, errors come from a front door. */
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
