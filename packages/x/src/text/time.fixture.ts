/** The least time of its own that the processor took, in microseconds, whatever else the machine did. */
function cost(work: () => unknown): number {
  const times = [1, 2].map(() => {
    const started = process.cpuUsage();
    work();
    return process.cpuUsage(started).user;
  });
  return Math.min(...times);
}

const PLAIN = 'Nothing happened today, and nobody was surprised. ';

/** A text of the length that is asked for. */
export type Hostile = (length: number) => string;

/** `before` once, `piece` again and again, `behind` once. */
export const hostile =
  (before: string, piece: string, behind = ''): Hostile =>
  (length) =>
    before + piece.repeat(Math.floor(length / piece.length)) + behind;

const MOST_TRIES = 5;

/**
 * Whether four times the text takes no more than nine times as long: more than four times, because time
 * is never measured well, and less than the sixteen times of what grows with the square. What takes
 * hardly longer than a plain text is not measured well enough to say. A compiler at work or a collector
 * can spoil a measurement, but not each of several.
 */
export function growsWithLength(
  work: (text: string) => unknown,
  text: Hostile,
  length = 12_000,
): boolean {
  const [plain, short, long] = [hostile('', PLAIN)(length), text(length / 4), text(length)];
  const grows = (): boolean => {
    const hardly = 8 * cost(() => work(plain));
    return cost(() => work(long)) <= hardly + 9 * cost(() => work(short));
  };
  return Array.from({ length: MOST_TRIES }).some(grows);
}
