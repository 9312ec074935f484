const MAX_LINKS = 20;

/** The URL of a relation in a `Link` header (RFC 8288), exactly as GitHub wrote it. */
export function linkOf(header: string | undefined, relation: string): string | undefined {
  if (header === undefined) return undefined;
  for (const part of header.split(/,\s*(?=<)/).slice(0, MAX_LINKS)) {
    const [, url, parameters = ''] = /^\s*<([^>]*)>(.*)$/.exec(part) ?? [];
    const [, rel] = /;\s*rel="?([^";]+)"?/i.exec(parameters) ?? [];
    if (rel?.split(/\s+/).includes(relation)) return url;
  }
  return undefined;
}
