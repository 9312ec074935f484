import type { ServerResponse } from 'node:http';
import type { Id } from './frame.js';

/**
 * A client that closes a connection and repeats its call on another may be faster than the notice of the
 * first one's end.
 */
export const LAG_MS = 50;

/** Answers a request that cannot be processed with a JSON-RPC error. */
export function refuse(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  id: Id | null = null,
  data?: unknown,
): void {
  const error = { code, message, ...(data !== undefined && { data }) };
  const body = JSON.stringify({ jsonrpc: '2.0', id, error });
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

/** An argument as the text of a header. */
export function headerText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
