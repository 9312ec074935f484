import type { IncomingMessage } from 'node:http';
import { isJsonContentType } from '@modelcontextprotocol/server';
import type { AccessHeaders } from './access.js';

/** Reads requests on Node's own objects: web requests and streams cost more than a quick call. */

export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

export function accessHeaders(incoming: IncomingMessage): AccessHeaders {
  return { get: (name) => headerOf(incoming, name) ?? null };
}

export function hasJsonBody(incoming: IncomingMessage): boolean {
  return isJsonContentType(headerOf(incoming, 'content-type') ?? null);
}

/** Whether the client accepts both forms of a response, as the protocol requires; curl accepts all types. */
export function acceptsResponses(incoming: IncomingMessage): boolean {
  const accept = headerOf(incoming, 'accept') ?? '';
  if (accept.includes('*/*')) return true;
  return accept.includes('application/json') && accept.includes('text/event-stream');
}

/**
 * Reads a body and calls back once, without a promise: with undefined as soon as it exceeds the limit, and
 * never if the client disconnects before it is complete.
 */
export function readBody(
  incoming: IncomingMessage,
  limit: number,
  done: (text: string | undefined) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on('data', (chunk: Buffer) => {
    if (size > limit) return;
    size += chunk.length;
    if (size > limit) done(undefined);
    else chunks.push(chunk);
  });
  incoming.on('end', () => {
    if (size > limit) return;
    const [first] = chunks;
    done(decoder.decode(first && chunks.length === 1 ? first : Buffer.concat(chunks)));
  });
}

const decoder = new TextDecoder();
