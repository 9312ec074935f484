/** How often a text may have been escaped, one time inside the other. */
const MAX_LAYERS = 3;

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};
const ESCAPE =
  /(?:%[\da-f]{2})+|\\+u([\da-f]{4})|&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));?/gi;
const UNSEEN = /[\p{C}\s]+/gu;

/** What a reader could make of a text: as it is, unescaped, and without what breaks words apart. */
export function* readingsOf(text: string): Generator<string> {
  let plain = text;
  for (let layer = 0; layer <= MAX_LAYERS; layer++) {
    yield plain;
    const joined = plain.replaceAll(UNSEEN, '');
    if (joined !== plain) yield joined;
    const next = plain.replaceAll(ESCAPE, unescaped);
    if (next === plain) return;
    plain = next;
  }
}

function unescaped(
  escape: string,
  json: string | undefined,
  decimal: string | undefined,
  hex: string | undefined,
  name: string | undefined,
): string {
  if (escape.startsWith('%')) return Buffer.from(escape.replaceAll('%', ''), 'hex').toString();
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? escape;
  const code = decimal === undefined ? Number.parseInt(json ?? hex ?? '', 16) : Number(decimal);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : escape;
}
