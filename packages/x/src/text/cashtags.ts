/** A dollar sign with a ticker, between blanks or punctuation. */
const CASHTAG =
  /(?<=^|[\s\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069])\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?=$|\s|[!'#%&"()*+,\\\-./:;<=>?@[\]^_{|}~$])/gi;

/** How many cashtags X sees in a text. */
export function countCashtags(text: string): number {
  return text.includes('$') ? [...text.matchAll(CASHTAG)].length : 0;
}
