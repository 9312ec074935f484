/** The `data` of each server-sent event. Comments, other fields and a cut-off last event are dropped. */
export async function* sseData(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let line = '';
  let data: string[] = [];
  let afterReturn = false;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text[at];
      if (char !== '\n' && char !== '\r') {
        afterReturn = false;
        continue;
      }
      // CRLF is one line end, also across two chunks.
      const isSecondHalf = char === '\n' && afterReturn;
      afterReturn = char === '\r';
      if (!isSecondHalf) {
        line += text.slice(start, at);
        if (line !== '') {
          if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
        } else if (data.length > 0) {
          yield data.join('\n');
          data = [];
        }
        line = '';
      }
      start = at + 1;
    }
    line += text.slice(start);
  }
}
