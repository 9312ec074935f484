/** The text, or its beginning and an ellipsis. Never ends in half a surrogate pair. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength - 1);
  const last = head.charCodeAt(head.length - 1);
  const endsInHalfAPair = last >= 0xd800 && last <= 0xdbff;
  return `${endsInHalfAPair ? head.slice(0, -1) : head}…`;
}

/** What every text has since Node 20, and TypeScript's library only since ES2024. */
interface Text {
  isWellFormed: () => boolean;
  toWellFormed: () => string;
}

/** Whether a text holds half a surrogate pair, which UTF-8 cannot carry. */
export function isIllFormed(text: string): boolean {
  return !(text as string & Text).isWellFormed();
}

/** The text with U+FFFD for every half of a surrogate pair. */
export function wellFormed(text: string): string {
  return (text as string & Text).toWellFormed();
}
