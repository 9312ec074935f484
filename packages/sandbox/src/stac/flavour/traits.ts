import type { FieldsRule } from '../search/fields.js';

type FilterLanguage = 'cql2-text' | 'cql2-json';

/** What a server can do. Its conformance classes, links and routes follow from this. */
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

/** How a server does it, where servers differ. */
export interface Traits extends Capabilities {
  /** Where the API begins on its host. */
  readonly basePath: string;
  readonly stacVersion: '1.0.0' | '1.1.0';
  /** The version in the conformance classes of the STAC API. */
  readonly apiVersion: string;
  /** Are links whole addresses, or relative to the document that holds them? */
  readonly hrefs: 'absolute' | 'relative';
  /** What a client adds to a GET to come to the next page. */
  readonly pageParameter: 'token' | 'next' | 'page';
  /**
   * What a `next` link of a POST carries: the whole body; the whole body and `merge: false`; only the token,
   * to be merged into what was sent; or a header.
   */
  readonly postPaging: 'whole-body' | 'whole-body-unmerged' | 'merge' | 'header';
  /** The relation of the link to the page before, if there is one. */
  readonly previousPage: 'prev' | 'previous' | undefined;
  /** Servers on Elasticsearch notice the end only when a page comes out empty. */
  readonly endsWithEmptyPage: boolean;
  readonly counts: readonly ('numberMatched' | 'numberReturned' | 'context')[];
  readonly maxLimit: number;
  readonly overMaxLimit: 'clamp' | 'refuse';
  /** Above so many bytes the gateway in front of the server gives up. */
  readonly maxAnswerBytes: number | undefined;
  /** Must properties be called `properties.x` when sorting, or may they be? */
  readonly sortNames: 'qualified' | 'any';
  readonly fieldsRule: FieldsRule;
  readonly unknownParameters: 'refuse' | 'ignore';
  /** Does a filter with an unknown property fail, or match nothing? */
  readonly unknownProperties: 'refuse' | 'ignore';
  readonly errorBody: 'stac' | 'detail';
  /** What a failing server says: its own words, those of its gateway, or a page for people. */
  readonly outageBody: 'stac' | 'message' | 'html';
  readonly collectionsPage: number | undefined;
  readonly collectionsParameter: 'token' | 'offset';
  readonly etags: boolean;
  /** Do items tell file sizes and data types? */
  readonly assetDetail: 'rich' | 'bare';
  /** Must asset addresses be signed first? */
  readonly signedAssets: boolean;
  /** Do assets come from a host of their own? */
  readonly assetHost: 'same' | 'separate';
}
