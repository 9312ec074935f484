/** The same answer. `over` is told once, when its body was read to the end, failed or was given up. */
export function whenOver(response: Response, over: () => void): Response {
  if (response.body === null) {
    over();
    return response;
  }
  const reader = response.body.getReader();
  let isOver = false;
  const end = (): void => {
    // Giving up also ends the read that is under way.
    if (!isOver) over();
    isOver = true;
  };
  const watched = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const read = await reader.read();
        if (!read.done) return controller.enqueue(read.value as Uint8Array);
        if (!isOver) controller.close();
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
  return new Response(watched, { status, statusText, headers });
}
