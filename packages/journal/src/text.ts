/** Available since Node 20; TypeScript's library has it since ES2024. */
interface Text {
  isWellFormed: () => boolean;
}

/** Replaces NUL and lone surrogates, which databases cannot store, with U+FFFD. */
export function keepable(text: string): string {
  // Called for every value: the common case must be cheap.
  if ((text as string & Text).isWellFormed() && !text.includes('\0')) return text;
  return text.replaceAll(/\p{Cs}/gu, '\uFFFD').replaceAll('\0', '\uFFFD');
}
