import { nfc } from '../text/strings.js';

/** A gap that a reader does not see, inside of a word or between two. */
const SOFT = '\u200B';
/** Format and control characters, and letters that are blank. Spaces are separators instead. */
const INVISIBLE = String.raw`(?:(?![\s\p{Z}])[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\u2800])`;
const BEFORE_MARK = new RegExp(`${INVISIBLE}+(?=\\p{M})`, 'gu');
const INVISIBLES = new RegExp(`${INVISIBLE}+`, 'gu');
const SPACES = new RegExp(`${SOFT}*[\\s\\p{Z}][\\s\\p{Z}${SOFT}]*`, 'gu');
const APOSTROPHES = /[‘’‛ʼʹʻˈ′‵´`＇]/gu;
/** Joins words like a space, if there is none beside it. */
const CONNECTOR = /(?<=[\p{L}\p{N}\u200B])[-_./\\|*~+•·‐‑‒–—]+(?=[\p{L}\p{N}\u200B])/gu;

/** Letters of other scripts that look like Latin ones, in lower case. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  [
    ['авԁеһіјкӏмопрԛѕтухԝсѵгн', 'abdehijklmonpqstyxwcvrh'],
    ['αβεικνορτυχγη', 'abeikvoptuxyn'],
    ['ıɑɡ', 'iag'],
  ].flatMap(([from = '', to = '']) =>
    Array.from(from).map((letter, at) => [letter, to[at]!] as const),
  ),
);

/** Only a word that mixes scripts, because a word of another script is none of Latin. */
function fold(word: string): string {
  if (!/[a-z]/.test(word)) return word;
  return Array.from(word)
    .map((letter) => LOOKALIKES.get(letter) ?? letter)
    .join('');
}

/**
 * Text without differences that a reader does not see: case, width, spacing, apostrophes, and letters that
 * only look Latin. Words are separated by one space, and by `SOFT` where an invisible character stood.
 */
function plain(text: string): string {
  // What is removed may have separated a letter from its accent.
  return nfc(nfc(text, 'NFKC').replaceAll(BEFORE_MARK, ''), 'NFKC')
    .toLowerCase()
    .replaceAll(INVISIBLES, SOFT)
    .replaceAll(APOSTROPHES, "'")
    .replaceAll(CONNECTOR, ' ')
    .replaceAll(SPACES, ' ')
    .trim()
    .split(' ')
    .map(fold)
    .join(' ');
}

/** Shorter words are part of ordinary text when their letters are spelled. */
const MIN_SPELLED = 3;
/** Two words that are written as one are often an ordinary word: check out, checkout. */
const MIN_JOINED = 3;
const GAP = `[ ${SOFT}]`;
const bounded = (pattern: string): string => `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`;

/** Matches the phrase with its words as they are, spelled letter by letter, or all written as one. */
function patternOf(phrase: string): RegExp {
  const words = plain(phrase)
    .split(/[ \u200B]/)
    .filter((word) => word !== '')
    .map((word) => Array.from(word, escaped));
  if (words.length === 0) return /(?!)/;
  const asWritten = words.map((letters) => {
    const whole = letters.join(`${SOFT}?`);
    const spelled = bounded(letters.join(GAP));
    return letters.length < MIN_SPELLED ? whole : `(?:${whole}|${spelled})`;
  });
  const joined = bounded(words.flat().join(`${SOFT}?`));
  const either = [asWritten.join(GAP), ...(words.length >= MIN_JOINED ? [joined] : [])];
  return new RegExp(either.join('|'), 'u');
}

const escaped = (letter: string): string => letter.replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`);

/** The first banned phrase in one of the texts, or across the parts of a thread. */
export function bannedPhrase(
  texts: readonly string[],
  { bannedPhrases }: { readonly bannedPhrases: readonly string[] },
): string | undefined {
  const written = [...texts, texts.join(' ')].map(plain);
  return bannedPhrases.find((phrase) => {
    const pattern = patternOf(phrase);
    return written.some((text) => pattern.test(text));
  });
}
