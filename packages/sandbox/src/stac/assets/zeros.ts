const CHUNK = new Uint8Array(64 * 1024);

/** So many zeros, made as they are read. */
export function zeros(count: number): ReadableStream<Uint8Array> {
  let left = count;
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const size = Math.min(left, CHUNK.length);
      if (size > 0) controller.enqueue(CHUNK.subarray(0, size));
      left -= size;
      if (left <= 0) controller.close();
    },
  });
}
