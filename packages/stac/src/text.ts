/** One line for a person, of bounded length, without what could disturb a terminal or a log. */
export function oneLine(text: string, limit: number): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit - 1).trimEnd()}…` : line;
}

/** Not by an expression: one that looks for slashes at the end begins anew at each slash. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}
