import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.js';

/** As it should be. */
export async function deliver(outgoing: ServerResponse, answer: Answer): Promise<void> {
  writeHead(outgoing, answer);
  outgoing.write(answer.body);
  for await (const chunk of answer.rest ?? []) {
    if (outgoing.destroyed) break;
    if (!outgoing.write(chunk)) await drained(outgoing);
  }
  outgoing.end();
}

/** Until there is room for more, or nobody left to read it. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
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
