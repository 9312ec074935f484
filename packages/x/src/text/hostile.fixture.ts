/** The lowest CPU time of several runs, in microseconds. */
function cost(work: () => unknown): number {
  const times = [1, 2].map(() => {
    const started = process.cpuUsage();
    work();
    return process.cpuUsage(started).user;
  });
  return Math.min(...times);
}

const PLAIN = 'Nothing happened today, and nobody was surprised. ';

/** Returns a text of a given length. */
type Hostile = (length: number) => string;

/** `before` once, `piece` repeatedly, `behind` once. */
export const hostile =
  (before: string, piece: string, behind = ''): Hostile =>
  (length) =>
    before + piece.repeat(Math.floor(length / piece.length)) + behind;

const MOST_TRIES = 5;

/**
 * Whether four times the text takes at most nine times as long: measurements are imprecise, and quadratic
 * time would be sixteen times as long. A time close to that of plain text counts as fast. Measures several
 * times, because the compiler or garbage collector can distort one.
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

/** Texts that are slow for a naive implementation. */
export const hostileTexts: readonly Hostile[] = [
  // Ambiguous parentheses of a path
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
  // Emoji and combining marks
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
