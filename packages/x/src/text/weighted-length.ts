import { emojiSequences } from './emoji.js';
import { nfc } from './nfc.js';
import { findUrls } from './urls.js';

/** X shortens every link to this many characters, however long it is. */
const URL_LENGTH = 23;
const HEAVY = 2;

/** Latin and its neighbours, and the punctuation that goes with them. All else counts twice. */
function weightOf(codePoint: number): number {
  const isLight =
    codePoint <= 0x10ff ||
    (codePoint >= 0x2000 && codePoint <= 0x200d) ||
    (codePoint >= 0x2010 && codePoint <= 0x201f) ||
    (codePoint >= 0x2032 && codePoint <= 0x2037);
  return isLight ? 1 : HEAVY;
}

/**
 * How long X takes a text to be: NFC, links 23, emoji 2, Latin letters 1, others 2. X allows 280,
 * and more to accounts that pay for it.
 */
export function weightedLength(text: string): number {
  const normal = nfc(text);
  const links = findUrls(normal).values();
  const emoji = emojiSequences(normal).values();
  let [link, sequence] = [links.next().value, emoji.next().value];
  let length = 0;
  for (let at = 0; at < normal.length;) {
    // Of one that begins inside of a link, what stands behind the link counts letter by letter.
    while (sequence && sequence.start < at) sequence = emoji.next().value;
    if (link?.start === at) {
      length += URL_LENGTH;
      at = link.end;
      link = links.next().value;
    } else if (sequence?.start === at) {
      length += HEAVY;
      at = sequence.end;
    } else {
      const codePoint = normal.codePointAt(at) ?? 0;
      length += weightOf(codePoint);
      at += codePoint > 0xffff ? 2 : 1;
    }
  }
  return length;
}
