/** A single line of bounded length without control characters, safe for terminals and logs. */
export function oneLine(text: string, limit: number): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit - 1).trimEnd()}…` : line;
}

/** Without a regular expression: `/\/+$/` takes quadratic time on long runs of slashes. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}
