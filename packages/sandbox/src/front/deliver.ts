import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Answer } from './answer.js';

/** As it should be. */
export async function deliver(outgoing: ServerResponse, answer: Answer): Promise<void> {
  writeHead(outgoing, answer);
  outgoing.write(answer.body);
  for await (const chunk of answer.rest ?? [])
    if (outgoing.destroyed) break;
    else if (!outgoing.write(chunk)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
  outgoing.end();
}

/** The head of an answer, with its length or with another one. */
export function writeHead(
  outgoing: ServerResponse,
  { status, headers, length }: Answer,
  told = length,
): void {
  outgoing.writeHead(status, {
    ...headers,
    ...(told !== undefined && { 'content-length': String(told) }),
  });
}
