export type LogLine = Readonly<Record<string, unknown>>;

/** Parses the JSON lines of stderr. */
export function logLines(text: string): LogLine[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Waits for a log event, because the log is written in batches. */
export async function lineWith(event: string, text: () => string): Promise<LogLine> {
  const end = performance.now() + 15_000;
  for (;;) {
    const found = logLines(text()).find((line) => line['event'] === event);
    if (found) return found;
    if (performance.now() > end) throw new Error(`no log event ${event} in:\n${text()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Compared with a bare timer of the same length in the same process. */
const MAX_LATE_MS = 100;

interface Lateness {
  readonly verdict: 'in time' | 'late' | 'the machine was late';
  /** The figures, for a failure message. */
  readonly text: string;
}

/** Interprets the log line of `cap-probe.mjs`. */
export function latenessOf(probe: LogLine): Lateness {
  const [answeredMs, controlMs, stolenMs] = ['answeredMs', 'controlMs', 'stolenMs'].map((name) =>
    Number(probe[name]),
  ) as [number, number, number];
  const lateMs = answeredMs - controlMs;
  const text =
    `responded ${lateMs.toFixed()} ms after the bare timer, ` +
    `and the process was not scheduled for ${stolenMs.toFixed()} ms`;
  if (lateMs <= MAX_LATE_MS) return { verdict: 'in time', text };
  const verdict = lateMs - stolenMs <= MAX_LATE_MS ? 'the machine was late' : 'late';
  return { verdict, text };
}
