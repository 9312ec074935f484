import type { LogLine } from './log-lines.js';

/** More than a bare timer of the same length in the same process. */
const MAX_LATE_MS = 100;

export interface Lateness {
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
