import type { RouteContext } from '../../front/routes.js';
import type { Api } from '../api/api.js';
import { notFound } from '../api/problem.js';
import { respond } from '../api/respond.js';
import { JSON_TYPE } from '../present/links.js';
import { staticDocuments } from './documents.js';
import { hostileDocument } from './hostile.js';

export const STATIC = '/static';
export const HOSTILE = '/hostile';

/** Files as a plain web server gives them. */
export function createStatic({
  catalogue,
  traits,
  places,
}: Api): (context: RouteContext) => Response {
  let documents: ReturnType<typeof staticDocuments> | undefined;
  return ({ req }) => {
    const { pathname } = new URL(req.url);
    const make = (): unknown => {
      if (pathname.startsWith(`${HOSTILE}/`))
        return hostileDocument(pathname.slice(HOSTILE.length + 1));
      documents ??= staticDocuments(catalogue, traits, places);
      return documents.get(pathname.slice(STATIC.length + 1))?.();
    };
    const document = make();
    if (document === undefined) throw notFound(pathname);
    return respond(200, JSON.stringify(document), JSON_TYPE);
  };
}
