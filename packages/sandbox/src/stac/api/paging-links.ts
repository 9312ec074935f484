import type { JsonObject } from '../../json.js';
import type { Traits } from '../flavour/traits.js';
import { GEOJSON_TYPE, link, type Link, type Places } from '../present/links.js';
import { encodeCursor, type Cursor } from '../search/cursor.js';

/** A request that gave a page, to be repeated for another one. */
export interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of a POST. */
  readonly body?: JsonObject;
}

/** The header that carries the cursor where links carry headers. */
export const CURSOR_HEADER = 'x-page-token';

/** A link to another page of the same search; without a cursor, to the very same page. */
export function pageLink(
  rel: string,
  cursor: Cursor | undefined,
  { path, query, body }: Asked,
  traits: Traits,
  places: Places,
): Link {
  const token = cursor && encodeCursor(cursor, traits);
  const name = traits.pageParameter;
  if (!body) {
    const params = new URLSearchParams(query);
    if (token !== undefined) params.set(name, token);
    const search = params.size > 0 ? `?${params.toString()}` : '';
    const href =
      traits.hrefs === 'relative' ? search || places.href(path) : places.href(path) + search;
    return link(rel, href, GEOJSON_TYPE, traits.postSearch ? { method: 'GET' } : {});
  }
  const asked = token === undefined ? {} : { [name]: token };
  return link(rel, places.href(path), GEOJSON_TYPE, { method: 'POST', ...carried(asked, token) });

  function carried(change: JsonObject, value: string | undefined): JsonObject {
    switch (traits.postPaging) {
      case 'merge':
        return { merge: true, body: change };
      case 'header':
        return { merge: true, headers: value === undefined ? {} : { [CURSOR_HEADER]: value } };
      case 'whole-body':
        return { body: { ...body, ...change } };
      case 'whole-body-unmerged':
        return { merge: false, body: { ...body, ...change } };
    }
  }
}
