/** Databases keep neither NUL nor half a surrogate pair; what cannot be kept is marked, not dropped. */
export function keepable(text: string): string {
  return text.replace(/\p{Cs}/gu, '\uFFFD').replaceAll('\0', '\uFFFD');
}
