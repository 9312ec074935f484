/** What X takes for a blank before a cashtag: not quite what `\s` is, and no marks of direction. */
const BLANK =
  '[\\t-\\r \\x85\\xA0\\u1680\\u180E\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]';

/** A dollar sign with a ticker, between blanks or punctuation. */
const CASHTAG = new RegExp(
  `(?<=^|${BLANK})\\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?=$|\\s|[!'#%&()*+,\\\\\\-./:;<=>?@[\\]^_{|}~$])`,
  'gi',
);

/** How many cashtags X sees in a text. */
export function countCashtags(text: string): number {
  return text.includes('$') ? [...text.matchAll(CASHTAG)].length : 0;
}
