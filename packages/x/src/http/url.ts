/** An address below another one, which may have a path of its own. Parts hold no separator. */
export function urlUnder(base: URL | string, parts: readonly string[]): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${parts.map(encodeURIComponent).join('/')}`;
  return url;
}
