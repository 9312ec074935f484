import { openSandbox, type CommonOptions, type Sandbox } from '../server/sandbox.js';
import { ACCOUNT, type AssetFacts, assetsOf, createSigning, type Signing } from './assets.js';
import { catalogueOf, digestOf } from './catalogue/catalogue.js';
import { type Flavour, flavours, type Traits } from './flavours.js';
import { type Api, JSON_TYPE, createUrls, Problem, problemResponse } from './api/http.js';
import { HOSTILE, STATIC } from './static.js';
import { HTML_PAGE } from '../server/response.js';
import { createRouter, type OutageBody, type Upstream } from '../server/upstream.js';
import { stacRoutes } from './routes.js';

export interface StacSandbox extends Sandbox {
  /** The landing page of the API, without a trailing slash. */
  readonly url: string;
  /** The root of a static catalogue. */
  readonly staticUrl: string;
  /** The root of a catalogue with traps for crawlers. */
  readonly hostileUrl: string;
  /** The prefix of asset URLs. */
  readonly assetsUrl: string;
  /** The endpoint that issues tokens for assets, for flavours that need them. */
  readonly signingUrl: string | undefined;
  readonly traits: Traits;
  /** A hash of the catalogue, equal for equal seeds and scales. */
  readonly digest: () => string;
  /** The ground truth about the files of an item, declared or not. */
  readonly assetFacts: (collection: string, item: string) => AssetFacts[];
}

/**
 * Starts a STAC API on loopback, with a synthetic catalogue and fault injection.
 *
 * Flavours that serve assets from another origin get a second port.
 */
export async function startStacSandbox(options: StacSandboxOptions = {}): Promise<StacSandbox> {
  const { seed = 1, scale = 1, flavour = 'full', assetBase, requiredHeader } = options;
  const traits: Traits = { ...flavours[flavour], ...options.traits };
  const catalogue = catalogueOf({ seed, scale });
  const signing = createSigning(seed, options.tokenLifetimeSeconds ?? 2700);
  const separate = traits.assetHost === 'separate';
  const ports = {
    api: options.port ?? 0,
    ...(separate && { assets: options.assetsPort ?? 0 }),
  };
  let assetsUrl = '';
  const { origins, ...sandbox } = await openSandbox({ ...options, seed, ports }, (at) => {
    const origin = at['assets'] ?? at['api'] ?? '';
    assetsUrl = assetBase ?? origin + (traits.signedAssets ? `/blob/${ACCOUNT}` : '/assets');
    const urls = createUrls(traits, at['api'] ?? '', assetsUrl);
    return stacUpstream({ catalogue, traits, urls }, signing, requiredHeader);
  });
  const origin = origins['api'] ?? '';
  return {
    ...sandbox,
    url: origin + traits.basePath,
    staticUrl: `${origin}${STATIC}/catalog.json`,
    hostileUrl: `${origin}${HOSTILE}/catalog.json`,
    assetsUrl,
    signingUrl: traits.signedAssets ? `${origin}/api/sas/v1/token` : undefined,
    traits,
    digest: () => digestOf(catalogue),
    assetFacts: (collection, item) => {
      const [product, scene] = [catalogue.product(collection), catalogue.scene(collection, item)];
      return product && scene ? assetsOf(product, scene, seed) : [];
    },
  };
}

export interface StacSandboxOptions extends CommonOptions {
  readonly assetsPort?: number;
  /** The size of the catalogue. The default of 1 is a few thousand items. */
  readonly scale?: number;
  /** The server to imitate. Default: full. */
  readonly flavour?: Flavour;
  /** Overrides of the flavour's traits. */
  readonly traits?: Partial<Traits>;
  /** A header that the API requires. */
  readonly requiredHeader?: RequiredHeader;
  /** The prefix of asset URLs, for clients that check host names. */
  readonly assetBase?: string;
  /** The lifetime of asset signatures. Default: 2700. */
  readonly tokenLifetimeSeconds?: number;
}

interface RequiredHeader {
  readonly name: string;
  readonly value: string;
}

/** Routes without the required header: storage and static files are other services. */
const OPEN = new Set(['asset', 'static', 'sign']);

function stacUpstream(api: Api, signing: Signing, required: RequiredHeader | undefined): Upstream {
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
    handle: (request, exchange) => {
      const route = routeOf(request.method, new URL(request.url).pathname);
      if (required && !OPEN.has(route) && request.headers.get(required.name) !== required.value)
        return problemResponse(unauthorized(required), traits);
      return app.fetch(request, exchange);
    },
    outageBody: (status) => outageOf(status, traits),
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
