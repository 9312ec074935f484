import type { ServerResponse } from 'node:http';

/** Waits, but not for a client that has left: then the answer is false, at once. */
export function pause(ms: number, outgoing: ServerResponse): Promise<boolean> {
  if (outgoing.destroyed || outgoing.socket?.destroyed) return Promise.resolve(false);
  if (ms < 0.5) return Promise.resolve(true);
  return new Promise((resolve) => {
    const left = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      outgoing.off('close', left);
      resolve(true);
    }, Math.round(ms));
    outgoing.once('close', left);
  });
}

/** Until the exchange is over, one way or the other. */
export function closed(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.closed) resolve();
    else outgoing.once('close', resolve);
  });
}
