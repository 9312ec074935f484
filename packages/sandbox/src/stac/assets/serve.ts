import type { RouteContext } from '../../front/routes.js';
import { assetsOf, type AssetFacts } from '../catalogue/assets.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { zeros } from './zeros.js';

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
  return content(facts, req.method, req.header('range'));
}

/** An error page as storage sends it: it has a length, too, which is not that of the file. */
export function refusal(status: number, code: string): Response {
  const text = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${'The request was refused. '.repeat(6)}</Message></Error>`;
  const headers = { 'content-type': XML, 'content-length': String(Buffer.byteLength(text)) };
  return new Response(text, { status, headers });
}

function content(
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
