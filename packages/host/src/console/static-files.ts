import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { HostError } from '../errors.js';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every file of the console. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};

const RESERVED = /^\/(api|mcp|metrics|healthz)(\/|$)/;

interface File {
  readonly body: Buffer;
  readonly type: string;
  readonly etag: string;
  readonly isImmutable: boolean;
}

/** Answers requests for the page and its files; undefined for all other requests. */
export type Pages = (request: Request) => Response | undefined;

/**
 * Serves the built page from memory. Paths are looked up in a fixed list, so none can leave the folder. A
 * path without a file is a page of the console if the client accepts HTML.
 */
export function staticPages(folder: string): Pages {
  const files = readFiles(folder);
  const index = files.get('/index.html');
  if (!index)
    throw new HostError(`the page of the console is not built: no index.html in ${folder}`);
  return (request) => {
    const { method, headers } = request;
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    const { pathname } = new URL(request.url);
    if (RESERVED.test(pathname)) return undefined;
    const isPage = headers.get('accept')?.includes('text/html') === true;
    const file = files.get(pathname) ?? (pathname === '/' || isPage ? index : undefined);
    if (!file) return undefined;
    const cache = file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
    const shared = { ...HEADERS, etag: file.etag, 'cache-control': cache };
    if (headers.get('if-none-match') === file.etag) {
      return new Response(null, { status: 304, headers: shared });
    }
    return new Response(method === 'HEAD' ? null : new Uint8Array(file.body), {
      headers: { ...shared, 'content-type': file.type, 'content-length': String(file.body.length) },
    });
  };
}

function readFiles(folder: string): ReadonlyMap<string, File> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const name = path.slice(folder.length).replaceAll('\\', '/').replace(/^\/*/, '/');
        const body = readFileSync(path);
        const hash = createHash('sha256').update(body).digest('base64url').slice(0, 27);
        return [
          name,
          {
            body,
            type: TYPES[extname(name)] ?? 'application/octet-stream',
            etag: `"${hash}"`,
            isImmutable: name.startsWith('/assets/'),
          },
        ] as const;
      }),
  );
}
