/** Databases keep neither NUL nor half a surrogate pair; what cannot be kept is marked, not dropped. */
export function keepable(text: string): string {
  // Most text has nothing to be looked at closely, and this is asked for every value.
  if (!/[\0\uD800-\uDFFF]/.test(text)) return text;
  return text.replaceAll(/\p{Cs}/gu, '\uFFFD').replaceAll('\0', '\uFFFD');
}
