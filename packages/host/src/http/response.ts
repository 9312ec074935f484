import type { ServerResponse } from 'node:http';

/** Returns the same response. Calls `onEnd` once its body has been read, has failed or was cancelled. */
export function onResponseEnd(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  let isEnded = false;
  const end = (): void => {
    // A cancellation also ends the read in flight.
    if (!isEnded) onEnd();
    isEnded = true;
  };
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const read = await reader.read();
        if (!read.done) return controller.enqueue(read.value as Uint8Array);
        if (!isEnded) controller.close();
        end();
      } catch (cause) {
        controller.error(cause);
        end();
      }
    },
    cancel: async (reason) => {
      end();
      await reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

const finishing = new WeakMap<ServerResponse, Promise<void>>();

/**
 * Resolves when the last byte of a response has been handed to the operating system; rejects if the
 * connection closes before.
 */
export function responseFinished(response: ServerResponse): Promise<void> {
  // A response that has ended cannot contain a result that is sent now.
  if (response.writableEnded || response.destroyed || response.req.socket.destroyed) {
    return Promise.reject(connectionClosed());
  }
  // Shared by all results of a batch.
  let finished = finishing.get(response);
  if (!finished) {
    finished = watchFinish(response);
    finishing.set(response, finished);
  }
  return finished;
}

function watchFinish(response: ServerResponse): Promise<void> {
  // The socket, because a pipelined response is not notified of its end before its turn.
  const { socket } = response.req;
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(connectionClosed());
    socket.once('close', onClose);
    // Node also emits `finish` if the last write failed. Prepended, because Node's own listener closes a
    // connection that is not kept alive.
    response.prependOnceListener('finish', () => {
      socket.off('close', onClose);
      if (response.destroyed || socket.destroyed || socket.errored) reject(connectionClosed());
      else resolve();
    });
  });
}

function connectionClosed(): Error {
  return new Error('the connection closed before the response was written');
}
