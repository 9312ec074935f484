import { createHash } from 'node:crypto';
import type { RouteContext } from '../../front/routes.js';
import type { JsonObject } from '../../json.js';
import type { Traits } from '../flavour/traits.js';
import { JSON_TYPE } from '../present/links.js';
import { Problem } from './problem.js';

/** An answer that is the same until the server is started anew: clients may keep it. */
export function lasting(
  context: RouteContext,
  traits: Traits,
  value: JsonObject,
  type = JSON_TYPE,
): Response {
  const text = JSON.stringify(value);
  if (!traits.etags) return respond(200, text, type);
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const known = context.req.header('if-none-match')?.split(/\s*,\s*/) ?? [];
  if (known.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag))
    return new Response(null, { status: 304, headers: { etag } });
  return respond(200, text, type, { etag });
}

export function respond(
  status: number,
  text: string,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  // Told here, so that an answer to HEAD tells it too.
  const length = String(Buffer.byteLength(text));
  const told = { 'content-type': type, 'content-length': length, ...headers };
  return new Response(text, { status, headers: told });
}

export function problemResponse(cause: unknown, { errorBody }: Traits): Response {
  const { status, code, message, headers } =
    cause instanceof Problem ? cause : new Problem(500, 'InternalError', 'Something went wrong');
  const body = errorBody === 'detail' ? { detail: message } : { code, description: message };
  return respond(status, JSON.stringify(body), JSON_TYPE, headers);
}
