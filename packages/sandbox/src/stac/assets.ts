import { between, randomOf, type Random } from '../random.js';
import { BYTES, type AssetTemplate, type Presence, type Product } from './catalogue/product.js';
import { shapeOf, type Scene } from './catalogue/scene.js';
import type { RouteContext } from '../server/upstream.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { createHmac } from 'node:crypto';
import { JSON_TYPE, notFound, respond } from './api/http.js';

/** How the server serves a file. The deviations mislead naive size estimates. */
export type AssetBehaviour =
  | 'normal'
  | 'no-length'
  | 'wrong-length'
  | 'forbidden'
  | 'gone'
  | 'no-head'
  | 'moved';

/** The ground truth about a file, declared in its item or not. */
export interface AssetFacts {
  readonly template: AssetTemplate;
  readonly bytes: number;
  readonly behaviour: AssetBehaviour;
  readonly declaresSize: boolean;
  readonly declaresShape: boolean;
  /** Rows and columns of an image. */
  readonly shape?: readonly [number, number];
}

const deviations: readonly (readonly [number, AssetBehaviour])[] = [
  [0.03, 'no-length'],
  [0.05, 'wrong-length'],
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
  const declaresSize = isPresent(template.declaresSize, random);
  const declaresShape = isPresent(template.declaresShape, random);
  const drawn = random();
  const behaviour = deviations.find(([below]) => drawn < below)?.[1] ?? 'normal';
  const shape = grid && resolution !== undefined ? shapeOf(grid, resolution) : undefined;
  if (shape) {
    const pixelBytes = bands.reduce((sum, { dataType }) => sum + BYTES[dataType], 0);
    const compression = between(random, 0.35, 0.8);
    const bytes = Math.round(shape[0] * shape[1] * pixelBytes * compression);
    return { template, bytes, behaviour, declaresSize, declaresShape, shape };
  }
  if (!template.bytes)
    return { template, bytes: 0, behaviour: 'gone', declaresSize, declaresShape };
  const bytes = Math.round(between(random, ...template.bytes));
  return { template, bytes, behaviour, declaresSize, declaresShape: false };
}

/** Always draws, so that the presence does not shift later draws. */
function isPresent(presence: Presence, random: Random): boolean {
  const drawn = random();
  return presence === 'always' || (presence === 'sometimes' && drawn < 0.6);
}

const XML = 'application/xml';

/** Serves a file of the right size, filled with zeros. */
export function serveAsset(catalogue: Catalogue, { req }: RouteContext): Response {
  const { collection = '', item = '', file = '' } = req.param() as Record<string, string>;
  const product = catalogue.product(collection);
  const scene = catalogue.scene(collection, item);
  const facts =
    product &&
    scene &&
    assetsOf(product, scene, catalogue.seed).find((it) => it.template.file === file);
  if (!facts || facts.behaviour === 'gone') return storageError(404, 'ResourceNotFound');
  const url = new URL(req.url);
  const moved = url.searchParams.has('moved');
  if (facts.behaviour === 'forbidden') return storageError(403, 'AuthorizationFailure');
  if (facts.behaviour === 'no-head' && req.method === 'HEAD')
    return storageError(405, 'MethodNotAllowed');
  if (facts.behaviour === 'moved' && !moved) {
    url.searchParams.set('moved', '1');
    return new Response(null, { status: 302, headers: { location: url.pathname + url.search } });
  }
  return fileResponse(facts, req.method, req.header('range'));
}

/** An error page of the storage. Its Content-Length is not the file's. */
export function storageError(status: number, code: string): Response {
  const text = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${'The request was refused. '.repeat(6)}</Message></Error>`;
  const headers = { 'content-type': XML, 'content-length': String(Buffer.byteLength(text)) };
  return new Response(text, { status, headers });
}

function fileResponse(
  { template, bytes, behaviour }: AssetFacts,
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
  const declared = behaviour === 'wrong-length' ? Math.max(1, Math.floor(bytes / 10)) : bytes;
  const length: Record<string, string> =
    behaviour === 'no-length'
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': String(declared) };
  const body = method === 'HEAD' ? null : zeros(declared);
  return new Response(body, { headers: { ...common, ...length } });
}

function rangeOf(range: string | undefined, bytes: number): [number, number] | undefined {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === undefined || Number(from) >= bytes) return undefined;
  return [Number(from), Math.min(bytes - 1, to ? Number(to) : bytes - 1)];
}

const CHUNK = new Uint8Array(64 * 1024);

/** A stream of `count` zero bytes. */
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

export type Signing = ReturnType<typeof createSigning>;

/** The storage account, as in Azure URLs. */
export const ACCOUNT = 'toolkeelsandbox';

/** Issues signatures like Azure's shared access tokens, for one container and a limited time. */
export function createSigning(seed: number, lifetimeSeconds: number) {
  const signatureOf = (container: string, expiry: string): string =>
    createHmac('sha256', `sandbox ${seed}`).update(`${container}\n${expiry}`).digest('base64');
  return {
    token: (container: string) => {
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
    /** Checks the signature in a query string. */
    check: (container: string, query: URLSearchParams): 'valid' | 'missing' | 'expired' => {
      const [expiry, signature] = [query.get('se'), query.get('sig')];
      if (expiry === null || signature === null) return 'missing';
      const genuine = signature === signatureOf(container, expiry);
      return genuine && Date.parse(expiry) > Date.now() ? 'valid' : 'expired';
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
  { collection, account = ACCOUNT }: { collection: string; account?: string },
): Response {
  if (!catalogue.product(collection) || account !== ACCOUNT)
    throw notFound(`Container ${account}/${collection}`);
  return respond(200, JSON.stringify(signing.token(collection)), JSON_TYPE);
}
