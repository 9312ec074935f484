import type { RouteContext } from '../../server/upstream.js';
import type { JsonObject } from '../../json.js';
import type { Scene } from '../catalogue/scene.js';
import { presentItem } from '../present/item.js';
import {
  abroad,
  type Api,
  GEOJSON_TYPE,
  link,
  type Link,
  notFound,
  type Places,
  Problem,
  readAsk,
  respond,
} from './http.js';
import { askOf, type Ask } from '../search/query.js';
import { type Cursor, decodeCursor, encodeCursor, type Page, pageOf } from '../search/paging.js';
import { chooseFields, keepsField } from '../search/fields.js';
import { matching, sorted } from '../search/select.js';
import type { Traits } from '../flavours.js';

export async function search(api: Api, context: RouteContext): Promise<Response> {
  const given = await readAsk(context, api.traits, [api.traits.pageParameter]);
  return answerSearch(api, context, { path: '/search', ...given }, given.ask);
}

export async function items(api: Api, context: RouteContext): Promise<Response> {
  const collection = context.req.param('collection') ?? '';
  if (!api.catalogue.product(collection)) throw notFound(`Collection ${collection}`);
  const given = await readAsk(context, api.traits, [api.traits.pageParameter]);
  const path = `/collections/${collection}/items`;
  return answerSearch(
    api,
    context,
    { path, ...given },
    { ...given.ask, collections: [collection] },
  );
}

function answerSearch(
  api: Api,
  context: RouteContext,
  asked: Asked,
  given: Readonly<Record<string, unknown>>,
): Response {
  const { catalogue, traits } = api;
  const ask = askOf(given, catalogue, traits);
  refuseLargePages(context, ask);
  const cursor = cursorOf(api, context, asked);
  const results = sorted(matching(catalogue, ask), ask);
  const page = pageOf(results, cursor, ask.limit, traits);
  if (context.env.inject('loop-next')) return answerPage(api, ask, asked, results, page, 'same');
  // Another name of the same machine: it answers, but it is not whom the client gave its secrets to.
  if (page.next && traits.hrefs === 'absolute' && context.env.inject('foreign-next'))
    return answerPage(api, ask, asked, results, page, 'foreign');
  if (context.env.inject('empty-page')) {
    // The next cursor leads to where this page should have been, and is not the one that led here.
    const next: Cursor = { direction: 'next', ...cursor, nonce: (cursor?.nonce ?? 0) + 1 };
    return answerPage(api, ask, asked, results, { scenes: [], next }, 'next');
  }
  return answerPage(api, ask, asked, results, page, 'next');
}

function refuseLargePages({ env }: RouteContext, { limit }: Ask): void {
  for (const [kind, status] of [
    ['too-large-413', 413],
    ['too-large-502', 502],
  ] as const) {
    const above = env.drawn(kind)?.aboveLimit ?? 100;
    if (limit > above && env.inject(kind))
      throw new Problem(status, 'ResponseTooLarge', 'The answer would be too large');
  }
}

function cursorOf({ traits }: Api, context: RouteContext, asked: Asked): Cursor | undefined {
  const { pageParameter, postPaging } = traits;
  const inHeader = asked.body && postPaging === 'header';
  const given = inHeader
    ? context.req.header(CURSOR_HEADER)
    : (asked.body?.[pageParameter] ?? asked.query.get(pageParameter) ?? undefined);
  return given === undefined ? undefined : decodeCursor(given, traits);
}

function answerPage(
  api: Api,
  ask: Ask,
  asked: Asked,
  results: readonly Scene[],
  page: Page,
  nextIs: 'next' | 'same' | 'foreign',
): Response {
  const { catalogue, traits, places } = api;
  const withAssets = keepsField('assets', ask.fields, traits.fieldsRule);
  const features = page.scenes.map((scene) => {
    const item = presentItem(catalogue, scene, traits, places, { withAssets });
    return ask.fields ? chooseFields(item, ask.fields, traits.fieldsRule) : item;
  });
  const at = nextIs === 'foreign' ? abroad(places) : places;
  const to = (rel: string, cursor?: Cursor) => pageLink(rel, cursor, asked, traits, at);
  const next = nextIs === 'same' ? [to('next')] : page.next ? [to('next', page.next)] : [];
  const previous = page.previous ? [to(traits.previousPage ?? 'prev', page.previous)] : [];
  const self = link('self', places.href(asked.path), GEOJSON_TYPE);
  return respondWithin(api, {
    type: 'FeatureCollection',
    features,
    links: [self, link('root', places.href('')), ...previous, ...next],
    ...countsOf(api, ask, results.length, features.length),
  });
}

function countsOf({ traits }: Api, ask: Ask, matched: number, returned: number): JsonObject {
  const { counts } = traits;
  return {
    ...(counts.includes('numberMatched') && { numberMatched: matched }),
    ...(counts.includes('numberReturned') && { numberReturned: returned }),
    ...(counts.includes('context') && { context: { matched, returned, limit: ask.limit } }),
  };
}

/** Some gateways cannot carry large answers, and say so in a way that looks like an outage. */
function respondWithin({ traits: { maxAnswerBytes } }: Api, value: JsonObject): Response {
  const text = JSON.stringify(value);
  if (maxAnswerBytes !== undefined && Buffer.byteLength(text) > maxAnswerBytes)
    return respond(502, '{"message": "Internal server error"}', 'application/json');
  return respond(200, text, GEOJSON_TYPE);
}

/** A request that gave a page, to be repeated for another one. */
interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of a POST. */
  readonly body?: JsonObject;
}

/** The header that carries the cursor where links carry headers. */
const CURSOR_HEADER = 'x-page-token';

/** A link to another page of the same search; without a cursor, to the very same page. */
function pageLink(
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
