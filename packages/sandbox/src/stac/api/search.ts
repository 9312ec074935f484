import type { JsonObject } from '../../json.js';
import type { RouteContext } from '../../server/upstream.js';
import type { Traits } from '../flavours.js';
import { presentItem } from '../present/item.js';
import { chooseFields, keepsField } from '../search/fields.js';
import { decodeCursor, encodeCursor, pageOf, type Cursor, type Page } from '../search/paging.js';
import { parseSearch, type SearchRequest, readParameters } from '../search/query.js';
import { matching, sorted } from '../search/select.js';
import {
  GEOJSON_TYPE,
  link,
  namedCollection,
  Problem,
  respond,
  withForeignOrigin,
  type Api,
  type ApiUrls,
  type Link,
} from './http.js';

export async function search(api: Api, context: RouteContext): Promise<Response> {
  const request = await readParameters(context, api.traits, [api.traits.pageParameter]);
  return respondToSearch(api, context, { path: '/search', ...request }, request.parameters);
}

export async function items(api: Api, context: RouteContext): Promise<Response> {
  const collection = namedCollection(api, context) ?? '';
  const request = await readParameters(context, api.traits, [api.traits.pageParameter]);
  const parameters = { ...request.parameters, collections: [collection] };
  const path = `/collections/${collection}/items`;
  return respondToSearch(api, context, { path, ...request }, parameters);
}

/** A request for a page, which the links to other pages repeat. */
interface PageRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The body of a POST. */
  readonly body?: JsonObject;
}

function respondToSearch(
  api: Api,
  context: RouteContext,
  request: PageRequest,
  parameters: Readonly<Record<string, unknown>>,
): Response {
  const { catalogue, traits } = api;
  const parsed = parseSearch(parameters, catalogue, traits);
  rejectLargePages(context, parsed);
  const cursor = cursorOf(traits, request);
  const results = sorted(matching(catalogue, parsed), parsed);
  const page = pageOf(results, cursor, parsed.limit, traits);
  const reply = (shown: Page, nextIs: NextLink): Response =>
    pageResponse(api, parsed, request, results.length, shown, nextIs);
  const { env } = context;
  if (env.inject('loop-next')) return reply(page, 'same');
  // The foreign origin serves the same API, but the client's credentials do not belong there.
  if (page.next && traits.hrefs === 'absolute' && env.inject('foreign-next'))
    return reply(page, 'foreign');
  if (env.inject('empty-page')) {
    // The next cursor leads to the page that belongs here, and differs from the one that led here.
    const next: Cursor = { ...cursor, nonce: (cursor.nonce ?? 0) + 1 };
    return reply({ scenes: [], next }, 'next');
  }
  return reply(page, 'next');
}

function rejectLargePages({ env }: RouteContext, { limit }: SearchRequest): void {
  for (const [kind, status] of [
    ['too-large-413', 413],
    ['too-large-502', 502],
  ] as const) {
    const above = env.drawn(kind)?.aboveLimit ?? 100;
    if (limit > above && env.inject(kind))
      throw new Problem(status, 'ResponseTooLarge', 'The answer would be too large');
  }
}

function cursorOf(traits: Traits, { body, query }: PageRequest): Cursor {
  const given = body?.[traits.pageParameter] ?? query.get(traits.pageParameter);
  return given == null ? {} : decodeCursor(given, traits);
}

type NextLink = 'next' | 'same' | 'foreign';

function pageResponse(
  { catalogue, traits, urls }: Api,
  { fields, limit }: SearchRequest,
  request: PageRequest,
  matched: number,
  page: Page,
  nextIs: NextLink,
): Response {
  const withAssets = keepsField('assets', fields, traits.fieldsRule);
  const features = page.scenes.map((scene) => {
    const item = presentItem(catalogue, scene, traits, urls, { withAssets });
    return fields ? chooseFields(item, fields, traits.fieldsRule) : item;
  });
  const at = nextIs === 'foreign' ? withForeignOrigin(urls) : urls;
  const cursor = nextIs === 'same' ? undefined : page.next;
  const next = nextIs === 'same' || cursor ? [nextLink(cursor, request, traits, at)] : [];
  const self = link('self', urls.href(request.path), GEOJSON_TYPE);
  const { counts } = traits;
  const returned = features.length;
  return respondWithinLimit(traits, {
    type: 'FeatureCollection',
    features,
    links: [self, link('root', urls.href('')), ...next],
    ...(counts.includes('numberMatched') && { numberMatched: matched }),
    ...(counts.includes('numberReturned') && { numberReturned: returned }),
    ...(counts.includes('context') && { context: { matched, returned, limit } }),
  });
}

/** A gateway that rejects large responses reports an internal error. */
function respondWithinLimit({ maxAnswerBytes }: Traits, value: JsonObject): Response {
  const text = JSON.stringify(value);
  if (maxAnswerBytes !== undefined && Buffer.byteLength(text) > maxAnswerBytes)
    return respond(502, '{"message": "Internal server error"}', 'application/json');
  return respond(200, text, GEOJSON_TYPE);
}

/** A link to the next page of the same search; without a cursor, to the same page. */
function nextLink(
  cursor: Cursor | undefined,
  { path, query, body }: PageRequest,
  traits: Traits,
  urls: ApiUrls,
): Link {
  const token = cursor && encodeCursor(cursor, traits);
  const name = traits.pageParameter;
  if (!body) {
    const params = new URLSearchParams(query);
    if (token !== undefined) params.set(name, token);
    const string = params.size > 0 ? `?${params.toString()}` : '';
    const href = traits.hrefs === 'relative' ? string || urls.href(path) : urls.href(path) + string;
    return link('next', href, GEOJSON_TYPE, traits.postSearch ? { method: 'GET' } : {});
  }
  const change = token === undefined ? {} : { [name]: token };
  const carried: Readonly<Record<Traits['postPaging'], JsonObject>> = {
    merge: { merge: true, body: change },
    'whole-body': { body: { ...body, ...change } },
    'whole-body-unmerged': { merge: false, body: { ...body, ...change } },
  };
  return link('next', urls.href(path), GEOJSON_TYPE, {
    method: 'POST',
    ...carried[traits.postPaging],
  });
}
