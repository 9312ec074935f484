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
type Hostile = (length: number) => string;

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

/** Texts that were made to be slow, or that a careless change would make so. */
export const hostileTexts: readonly Hostile[] = [
  // Brackets of a path, that can be read in many ways
  hostile('a.com/', '(a)', '('),
  hostile('https://a.com/', '(a)!'),
  hostile('a.com/', '(!)'),
  hostile('a.com/', '((a))', '('),
  hostile('a.com/', '(a(a)a)', '?'),
  hostile('a.com/', '(a(a'),
  hostile('a.com/', '('),
  hostile('a.com/(', 'a'),
  hostile('a.com/', '!'),
  hostile('a.com/a', '(a)!!!!', ' '),
  hostile('', 'a.com/(', ')'),
  hostile('', 'a.com/(a)! '),
  // Queries and ports
  hostile('a.com?', '!'),
  hostile('', 'a.com?!'),
  hostile('', '日.рф?'),
  hostile('a.com:', '8', '!'),
  hostile('https://t.co/', 'a', '?!'),
  // Hosts
  hostile('', '日', '.jp'),
  hostile('', '日', '_日.jp'),
  hostile('', '日-', '.com'),
  hostile('', '日.'),
  hostile('', 'a.', 'com'),
  hostile('日.com.', 'a.'),
  hostile('', 'a-'),
  hostile('', 'a_', '.com'),
  hostile('', '日_', 'a.com'),
  hostile('', '日-.com.'),
  hostile('', '日.jp_'),
  hostile('', '_.com'),
  hostile('', 'xn--a.'),
  hostile('', 'xn--', '.com'),
  hostile('', '日xn--p1ai.', 'com'),
  hostile('', `${'x'.repeat(63)}.`, 'com'),
  hostile('', 'é', '.com'),
  hostile('', '。', '.com'),
  hostile('', 'a.com'),
  hostile('', 'a.com '),
  hostile('', 'https://'),
  hostile('', 'https://a.com/'),
  // Emoji, and marks that want to be put in order
  hostile('', '😀'),
  hostile('', '👍🏽'),
  hostile('', '👍\u200d'),
  hostile('', '👍\ufe0f'),
  hostile('👩', '\u200d👩'),
  hostile('', '🇩'),
  hostile('🏴', '\u{E0067}'),
  hostile('e', '\u0301\u0316'),
  hostile('a.com/', '\u0316\u0301'),
  hostile('e', '\u{1E8D0}\u0301'),
  hostile('', '\u1100\u1161\u11a8'),
  // Everything else
  hostile('', '$A'),
  hostile('', ' $ABCDEF.'),
  hostile('', '&amp'),
  hostile('', ' '),
  hostile('', '\u0000 ', 'a'),
];
