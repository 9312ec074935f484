/** More marks than anybody puts on a letter, and few enough to be sorted in no time. */
const MOST_MARKS = 512;

/**
 * A text in NFC. Marks on one letter are put in order, which takes the square of their number, and a
 * text may be nothing but marks: so many are only put in order among their neighbours.
 */
export function nfc(text: string): string {
  if (text.length <= MOST_MARKS) return text.normalize('NFC');
  let result = '';
  let at = 0;
  for (const { 0: marks, index } of text.matchAll(/\p{M}+/gu)) {
    for (let end = index + MOST_MARKS; end < index + marks.length; end += MOST_MARKS) {
      // Also between the halves of a mark: they are left as they are.
      result += text.slice(at, end).normalize('NFC');
      at = end;
    }
  }
  return `${result}${text.slice(at).normalize('NFC')}`;
}
