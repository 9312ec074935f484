/** What every text has since Node 20, and TypeScript's library only since ES2024. */
interface Text {
  isWellFormed: () => boolean;
}

/** Databases keep neither NUL nor half a surrogate pair; what cannot be kept is marked, not dropped. */
export function keepable(text: string): string {
  // Most text has nothing to be looked at closely, and this is asked for every value.
  if ((text as string & Text).isWellFormed() && !text.includes('\0')) return text;
  return text.replaceAll(/\p{Cs}/gu, '\uFFFD').replaceAll('\0', '\uFFFD');
}
