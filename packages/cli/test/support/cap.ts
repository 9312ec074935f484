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

/** More than a bare timer of the same length in the same process. */
const MAX_LATE_MS = 100;

interface Lateness {
  readonly verdict: 'in time' | 'late' | 'the machine was late';
  /** In figures, for who reads a failure. */
  readonly text: string;
}

/** What the line of `cap-probe.mjs` says of an answer. */
export function latenessOf(probe: LogLine): Lateness {
  const [answeredMs, controlMs, stolenMs] = ['answeredMs', 'controlMs', 'stolenMs'].map((name) =>
    Number(probe[name]),
  ) as [number, number, number];
  const lateMs = answeredMs - controlMs;
  const text =
    `answered ${lateMs.toFixed()} ms after the bare timer, ` +
    `and the machine gave the process nothing for ${stolenMs.toFixed()} ms`;
  if (lateMs <= MAX_LATE_MS) return { verdict: 'in time', text };
  const verdict = lateMs - stolenMs <= MAX_LATE_MS ? 'the machine was late' : 'late';
  return { verdict, text };
}
