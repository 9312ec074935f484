import type { ServerResponse } from 'node:http';

const finishing = new WeakMap<ServerResponse, Promise<void>>();

/**
 * Resolves when the last byte of a response that is being written was handed to the operating system
 * before its connection closed; rejects where that cannot happen any more.
 */
export async function whenFinished(response: ServerResponse): Promise<void> {
  // A response that has ended already cannot hold what is sent now.
  if (response.writableEnded || response.destroyed || response.req.socket.destroyed) throw closed();
  // One for all answers to a batch.
  let finished = finishing.get(response);
  if (!finished) {
    finished = watch(response);
    finishing.set(response, finished);
  }
  return finished;
}

function watch(response: ServerResponse): Promise<void> {
  // Of the connection, because a pipelined response does not hear of its end before it has its turn.
  const { socket } = response.req;
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(closed());
    socket.once('close', onClose);
    // Node emits `finish` also when the last write failed. First in line, because its own listener
    // then ends a connection that is not kept alive.
    response.prependOnceListener('finish', () => {
      socket.off('close', onClose);
      if (response.destroyed || socket.destroyed || socket.errored) reject(closed());
      else resolve();
    });
  });
}

function closed(): Error {
  return new Error('the connection closed before the answer was written');
}
