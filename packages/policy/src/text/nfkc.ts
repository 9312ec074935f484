/** More marks than anybody puts on a letter, and few enough to be sorted in no time. */
const MOST_MARKS = 512;
/** What stands on the letter before it; the last two become marks. */
const MARKS = /[\p{M}\uFF9E\uFF9F]+/gu;

/**
 * A text in NFKC. Marks on one letter are put in order, which takes the square of their number, and a
 * text may be nothing but marks: so many are only put in order among their neighbours.
 */
export function nfkc(text: string): string {
  if (text.length <= MOST_MARKS) return text.normalize('NFKC');
  const pieces: string[] = [];
  let at = 0;
  for (const { 0: marks, index } of text.matchAll(MARKS)) {
    for (let end = index + MOST_MARKS; end < index + marks.length; end += MOST_MARKS) {
      pieces.push(text.slice(at, end));
      at = end;
    }
  }
  return [...pieces, text.slice(at)].map((piece) => piece.normalize('NFKC')).join('');
}
