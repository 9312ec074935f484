import { between, randomOf, type Random } from '../random.js';
import { BYTES, type AssetTemplate, type Candour, type Product } from './catalogue/product.js';
import { shapeOf, type Scene } from './catalogue/scene.js';
import type { RouteContext } from '../server/upstream.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { createHmac } from 'node:crypto';
import { JSON_TYPE, notFound, respond } from './api/http.js';

/**
 * How the server answers for a file. Storage is honest as a rule; the exceptions are those that make a naive
 * size estimate wrong: an error page counted as the file, a length that is not there or not true.
 */
export type Manner = 'honest' | 'no-length' | 'lies' | 'forbidden' | 'gone' | 'no-head' | 'moved';

/** What is true about a file, beside what its item tells. */
export interface AssetFacts {
  readonly template: AssetTemplate;
  readonly bytes: number;
  readonly manner: Manner;
  readonly tellsSize: boolean;
  readonly tellsShape: boolean;
  /** Rows and columns of an image. */
  readonly shape?: readonly [number, number];
}

const oddities: readonly (readonly [number, Manner])[] = [
  [0.03, 'no-length'],
  [0.05, 'lies'],
  [0.07, 'forbidden'],
  [0.09, 'gone'],
  [0.11, 'no-head'],
  [0.13, 'moved'],
];

export function assetsOf(product: Product, scene: Scene, seed: number): AssetFacts[] {
  return product.assets.map((template) => {
    const random = randomOf(seed, 'asset', scene.collection, scene.id, template.key);
    return factsOf(template, scene, random);
  });
}

function factsOf(template: AssetTemplate, { grid }: Scene, random: Random): AssetFacts {
  const { bands = [], gsd, resolution = gsd } = template;
  const tellsSize = says(template.tellsSize, random);
  const tellsShape = says(template.tellsShape, random);
  const drawn = random();
  const manner = oddities.find(([below]) => drawn < below)?.[1] ?? 'honest';
  const shape = grid && resolution !== undefined ? shapeOf(grid, resolution) : undefined;
  if (shape) {
    const pixelBytes = bands.reduce((sum, { dataType }) => sum + BYTES[dataType], 0);
    const compression = between(random, 0.35, 0.8);
    const bytes = Math.round(shape[0] * shape[1] * pixelBytes * compression);
    return { template, bytes, manner, tellsSize, tellsShape, shape };
  }
  if (!template.bytes) return { template, bytes: 0, manner: 'gone', tellsSize, tellsShape };
  const bytes = Math.round(between(random, ...template.bytes));
  return { template, bytes, manner, tellsSize, tellsShape: false };
}

/** Always draws, so that candour does not shift what follows. */
function says(candour: Candour, random: Random): boolean {
  const drawn = random();
  return candour === 'always' || (candour === 'sometimes' && drawn < 0.6);
}

const XML = 'application/xml';

/** Files that exist as far as anybody asks: the right size, full of zeros. */
export function serveAsset(catalogue: Catalogue, { req }: RouteContext): Response {
  const { collection = '', item = '', file = '' } = req.param() as Record<string, string>;
  const product = catalogue.product(collection);
  const scene = catalogue.scene(collection, item);
  const facts =
    product &&
    scene &&
    assetsOf(product, scene, catalogue.seed).find((it) => it.template.file === file);
  if (!facts || facts.manner === 'gone') return refusal(404, 'ResourceNotFound');
  const url = new URL(req.url);
  const moved = url.searchParams.has('moved');
  if (facts.manner === 'forbidden') return refusal(403, 'AuthorizationFailure');
  if (facts.manner === 'no-head' && req.method === 'HEAD') return refusal(405, 'MethodNotAllowed');
  if (facts.manner === 'moved' && !moved) {
    url.searchParams.set('moved', '1');
    return new Response(null, { status: 302, headers: { location: url.pathname + url.search } });
  }
  return fileResponse(facts, req.method, req.header('range'));
}

/** An error page as storage sends it: it has a length, too, which is not that of the file. */
export function refusal(status: number, code: string): Response {
  const text = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${'The request was refused. '.repeat(6)}</Message></Error>`;
  const headers = { 'content-type': XML, 'content-length': String(Buffer.byteLength(text)) };
  return new Response(text, { status, headers });
}

function fileResponse(
  { template, bytes, manner }: AssetFacts,
  method: string,
  range?: string,
): Response {
  const common = {
    'content-type': template.type,
    'accept-ranges': 'bytes',
    etag: `"${bytes.toString(36)}"`,
  };
  const part = method === 'GET' ? rangeOf(range, bytes) : undefined;
  if (part) {
    const [from, to] = part;
    const headers = {
      ...common,
      'content-length': String(to - from + 1),
      'content-range': `bytes ${from}-${to}/${bytes}`,
    };
    return new Response(zeros(to - from + 1), { status: 206, headers });
  }
  const told = manner === 'lies' ? Math.max(1, Math.floor(bytes / 10)) : bytes;
  const length: Record<string, string> =
    manner === 'no-length'
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': String(told) };
  const body = method === 'HEAD' ? null : zeros(told);
  return new Response(body, { headers: { ...common, ...length } });
}

function rangeOf(range: string | undefined, bytes: number): [number, number] | undefined {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === undefined || Number(from) >= bytes) return undefined;
  return [Number(from), Math.min(bytes - 1, to ? Number(to) : bytes - 1)];
}

const CHUNK = new Uint8Array(64 * 1024);

/** So many zeros, made as they are read. */
function zeros(count: number): ReadableStream<Uint8Array> {
  let left = count;
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const size = Math.min(left, CHUNK.length);
      if (size > 0) controller.enqueue(CHUNK.subarray(0, size));
      left -= size;
      if (left <= 0) controller.close();
    },
  });
}

export interface Signing {
  /** Who owns the storage, in the sandbox as in the addresses of Azure. */
  readonly account: string;
  readonly token: (container: string) => { readonly 'msft:expiry': string; readonly token: string };
  /** Is a query string good for this container, now? */
  readonly check: (container: string, query: URLSearchParams) => 'good' | 'missing' | 'expired';
}

export const ACCOUNT = 'toolkeelsandbox';

/** Signatures in the style of Azure's shared access: valid for one container, and for a while. */
export function createSigning(seed: number, lifetimeSeconds: number): Signing {
  const signatureOf = (container: string, expiry: string): string =>
    createHmac('sha256', `sandbox ${seed}`).update(`${container}\n${expiry}`).digest('base64');
  return {
    account: ACCOUNT,
    token: (container) => {
      const now = Date.now();
      const expiry = isoSeconds(now + lifetimeSeconds * 1000);
      const token = new URLSearchParams({
        st: isoSeconds(now - 86_400_000),
        se: expiry,
        sp: 'rl',
        sv: '2024-05-04',
        sr: 'c',
        sig: signatureOf(container, expiry),
      });
      return { 'msft:expiry': expiry, token: token.toString() };
    },
    check: (container, query) => {
      const [expiry, signature] = [query.get('se'), query.get('sig')];
      if (expiry === null || signature === null) return 'missing';
      const genuine = signature === signatureOf(container, expiry);
      return genuine && Date.parse(expiry) > Date.now() ? 'good' : 'expired';
    },
  };
}

function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** A token for a collection, or for a container of an account. */
export function signToken(
  signing: Signing,
  catalogue: Catalogue,
  { collection, account = signing.account }: { collection: string; account?: string },
): Response {
  if (!catalogue.product(collection) || account !== signing.account)
    throw notFound(`Container ${account}/${collection}`);
  return respond(200, JSON.stringify(signing.token(collection)), JSON_TYPE);
}
