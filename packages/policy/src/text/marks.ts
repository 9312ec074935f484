import { plain } from './fold.js';

/** `@name`, but not what is in the middle of an address. */
export function countMentions(text: string): number {
  return countOf(text, /(?<![\p{L}\p{N}_@])@[\p{L}\p{N}_]+/gu);
}

/** `#word`; a number alone, such as #1, is none. */
export function countHashtags(text: string): number {
  const found = plain(text).match(/(?<![\p{L}\p{N}_&])#[\p{L}\p{N}_]+/gu) ?? [];
  return found.filter((tag) => /[^\p{N}_#]/u.test(tag)).length;
}

/** `$ABC` or `$BRK.A`; an amount, such as $20, is none. */
export function countCashtags(text: string): number {
  return countOf(
    text,
    /(?<![\p{L}\p{N}_$])\$[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?(?![\p{L}\p{N}_])/gu,
  );
}

const countOf = (text: string, mark: RegExp): number => plain(text).match(mark)?.length ?? 0;
