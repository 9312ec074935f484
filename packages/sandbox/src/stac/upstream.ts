import { HTML_PAGE } from '../front/answer.js';
import { createRouter } from '../front/routes.js';
import type { OutageBody, Upstream } from '../front/upstream.js';
import type { Api } from './api/api.js';
import { Problem } from './api/problem.js';
import { problemResponse } from './api/respond.js';
import type { Signing } from './assets/sign.js';
import type { Traits } from './flavour/traits.js';
import { JSON_TYPE } from './present/links.js';
import { stacRoutes } from './routes.js';

export interface RequiredHeader {
  readonly name: string;
  readonly value: string;
}

/** Routes that need no credential: storage and files are other services. */
const OPEN = new Set(['asset', 'static', 'sign']);

export function stacUpstream(
  api: Api,
  signing: Signing,
  required: RequiredHeader | undefined,
): Upstream {
  const { traits } = api;
  const { app, names, routeOf, methodsOf } = createRouter(stacRoutes(api, signing));
  app.onError((cause) => problemResponse(cause, traits));
  app.notFound(({ req }) => {
    const allowed = methodsOf(req.path);
    const problem =
      allowed.length > 0
        ? new Problem(405, 'MethodNotAllowed', `Use ${allowed.join(' or ')}`, {
            allow: allowed.join(', '),
          })
        : new Problem(404, 'NotFoundError', `There is nothing at ${req.path}`);
    return problemResponse(problem, traits);
  });
  return {
    routes: names,
    contentFaults: ['loop-next', 'foreign-next', 'empty-page', 'too-large-413', 'too-large-502'],
    routeOf,
    answer: (request, seat) => {
      const route = routeOf(request.method, new URL(request.url).pathname);
      if (required && !OPEN.has(route) && request.headers.get(required.name) !== required.value)
        return problemResponse(unauthorized(required), traits);
      return app.fetch(request, seat);
    },
    outage: (status) => outageOf(status, traits),
  };
}

function unauthorized({ name }: RequiredHeader): Problem {
  const headers = { 'www-authenticate': 'Bearer realm="sandbox"' };
  return new Problem(401, 'Unauthorized', `The header ${name} is missing or wrong`, headers);
}

function outageOf(status: number, { outageBody }: Traits): OutageBody {
  if (outageBody === 'html') return { type: 'text/html', text: HTML_PAGE };
  const body =
    outageBody === 'message'
      ? {
          message:
            status === 403
              ? 'Forbidden'
              : status === 429
                ? 'Too Many Requests'
                : 'Internal server error',
        }
      : {
          code: status === 429 ? 'TooManyRequests' : 'ServerError',
          description: `Status ${status}, on command`,
        };
  return { type: JSON_TYPE, text: JSON.stringify(body) };
}
