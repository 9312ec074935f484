/** The text, or its beginning and an ellipsis. Never ends in half a surrogate pair. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength - 1);
  const last = head.charCodeAt(head.length - 1);
  const endsInHalfAPair = last >= 0xd800 && last <= 0xdbff;
  return `${endsInHalfAPair ? head.slice(0, -1) : head}…`;
}
