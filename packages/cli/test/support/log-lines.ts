export type LogLine = Readonly<Record<string, unknown>>;

/** The JSON lines in what a server has written to stderr. */
export function logLines(text: string): LogLine[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Lines come in batches, so whoever looks for one may have to wait. */
export async function lineWith(event: string, text: () => string): Promise<LogLine> {
  const end = performance.now() + 15_000;
  for (;;) {
    const found = logLines(text()).find((line) => line['event'] === event);
    if (found) return found;
    if (performance.now() > end) throw new Error(`there is no line ${event} in:\n${text()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
