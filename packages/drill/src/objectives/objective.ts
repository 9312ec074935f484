/**
 * `cannot`: no policy of this kind can meet it, and the run shows why. `too noisy`: the machine did
 * not hold still long enough to say.
 */
export type Verdict = 'met' | 'missed' | 'cannot' | 'too noisy' | 'not run';

export interface Objective {
  readonly what: string;
  readonly bar: string;
  readonly measured: string;
  readonly verdict: Verdict;
  /** For what cannot be met. */
  readonly why?: string;
}

/** An objective over several measurements: met if each of them meets it. */
export function judge<T>(options: {
  readonly what: string;
  readonly bar: string;
  readonly values: readonly (T | undefined)[];
  readonly show: (values: readonly T[]) => string;
  readonly meets: (value: T) => boolean;
}): Objective {
  const { what, bar, values, show, meets } = options;
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length) return { what, bar, measured: '–', verdict: 'not run' };
  return { what, bar, measured: show(known), verdict: known.every(meets) ? 'met' : 'missed' };
}
