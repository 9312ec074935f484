import type { JsonObject } from '../../json.js';
import type { Traits } from '../flavour/traits.js';

export interface Link extends JsonObject {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
}

export const JSON_TYPE = 'application/json';
export const GEOJSON_TYPE = 'application/geo+json';
export const SCHEMA_TYPE = 'application/schema+json';
export const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.0';
export const QUERYABLES_REL = 'http://www.opengis.net/def/rel/ogc/1.0/queryables';

/** Where things are. */
export interface Places {
  /** The API's own address, without a slash at its end. */
  readonly api: string;
  /** How links write the address of a path of the API. */
  readonly href: (path: string) => string;
  readonly asset: (collection: string, item: string, file: string) => string;
}

export function placesOf(traits: Traits, origin: string, assetBase: string): Places {
  const api = origin + traits.basePath;
  return {
    api,
    href: (path) => (traits.hrefs === 'absolute' ? api + path : traits.basePath + path || '/'),
    asset: (collection, item, file) => `${assetBase}/${collection}/${item}/${file}`,
  };
}

/** The same places under another name: another origin, as far as a client can tell. */
export function abroad(places: Places): Places {
  const api = places.api.replace('//127.0.0.1:', '//localhost:');
  return { ...places, api, href: (path) => api + path };
}

export function link(rel: string, href: string, type = JSON_TYPE, more: JsonObject = {}): Link {
  return { rel, href, type, ...more };
}
