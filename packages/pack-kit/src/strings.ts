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

/** Appends path segments to a URL that may have a path of its own. A segment cannot escape the path. */
export function urlUnder(base: URL | string, ...segments: readonly string[]): URL {
  const url = new URL(base);
  url.pathname = `${withoutTrailingSlashes(url.pathname)}/${segments.map(encodeSegment).join('/')}`;
  return url;
}

/** URL parsers resolve the segments `.` and `..` even when they are percent-encoded once. */
function encodeSegment(name: string): string {
  return /^\.{1,2}$/.test(name) ? name.replaceAll('.', '%252E') : encodeURIComponent(name);
}
