import type { IncomingMessage } from 'node:http';

/** Room for the largest piece of a file that an upstream takes at once, which is 5 MB, and its wrapping. */
const LARGEST = 8 * 1024 * 1024;

export type ReadBody =
  | { readonly bytes: Buffer }
  | { readonly failed: 'client-left' | 'too-large' };

export async function readBody(incoming: IncomingMessage): Promise<ReadBody> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return { bytes: Buffer.alloc(0) };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > LARGEST) return { failed: 'too-large' };
      chunks.push(chunk);
    }
  } catch {
    return { failed: 'client-left' };
  }
  return { bytes: Buffer.concat(chunks) };
}
