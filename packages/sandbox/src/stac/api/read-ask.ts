import type { RouteContext } from '../../front/routes.js';
import { isObject, type JsonObject } from '../../json.js';
import type { Traits } from '../flavour/traits.js';
import { askFromQuery } from '../search/from-query.js';
import { badParameter, Problem } from './problem.js';

export interface Given {
  /** The parameters, in the form that POST uses. */
  readonly ask: Readonly<Record<string, unknown>>;
  readonly query: URLSearchParams;
  readonly body?: JsonObject;
}

/** The parameters of a GET or POST. Some routes know more than all of them do. */
export async function readAsk(
  { req }: RouteContext,
  traits: Traits,
  ownParameters: readonly string[] = [],
): Promise<Given> {
  const query = new URL(req.url).searchParams;
  if (req.method === 'POST') {
    const body = parseBody(await req.text(), req.header('content-type'));
    return { ask: body, body, query };
  }
  const { ask, unknown } = askFromQuery(query);
  const stranger = unknown.find((name) => !ownParameters.includes(name));
  if (stranger !== undefined && traits.unknownParameters === 'refuse')
    throw badParameter(stranger, 'is not a parameter');
  return { ask, query };
}

function parseBody(text: string, type = ''): JsonObject {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/.test(type))
    throw new Problem(415, 'UnsupportedMediaType', 'The body must be application/json');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw badParameter('body', 'is not JSON');
  }
  if (!isObject(body)) throw badParameter('body', 'is not an object');
  return body as JsonObject;
}
