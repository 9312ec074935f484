import { plain } from './fold.js';

/**
 * `@name`, but not what is in the middle of an address. Of what stands before the sign only ASCII
 * letters, digits and `_` make it part of an address, as X reads it; `RT@name` is a mention.
 */
export function countMentions(text: string): number {
  const sign = /(?<![A-Za-z0-9_@＠])[@＠﹫]|(?<=(?<![A-Za-z0-9_])[Rr][Tt])[@＠﹫]/gu;
  return countOf(apart(text, sign, '@'), /(?<![A-Za-z0-9_@])@[\p{L}\p{N}_]+/gu);
}

/** `#word`; a number alone, such as #1, is none. */
export function countHashtags(text: string): number {
  const separated = apart(text, /(?<![\p{L}\p{N}_&])[#＃﹟]/gu, '#');
  const found = plain(separated).match(/(?<![\p{L}\p{N}_&])#[\p{L}\p{N}_]+/gu) ?? [];
  return found.filter((tag) => /[^\p{N}_#]/u.test(tag)).length;
}

/** `$ABC` or `$BRK.A`; an amount, such as $20, is none. */
export function countCashtags(text: string): number {
  return countOf(
    apart(text, /(?<![\p{L}\p{N}_$])[$＄﹩]/gu, '$'),
    /(?<![\p{L}\p{N}_$])\$[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?(?![\p{L}\p{N}_])/gu,
  );
}

/**
 * Puts a space before signs that begin a mark where they stand. Folding removes invisible characters and
 * makes plain letters of others, and would join the sign to the word before it.
 */
const apart = (text: string, sign: RegExp, written: string): string =>
  text.replaceAll(sign, () => ` ${written}`);

const countOf = (text: string, mark: RegExp): number => plain(text).match(mark)?.length ?? 0;
