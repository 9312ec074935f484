const PREFIX = '<!-- toolkeel:';

/** A hidden HTML comment at the end of a body, by which a write is found again. */
export function withMarker(body: string, id: string): string {
  return `${body}\n\n${markerOf(id)}`;
}

export function hasMarker(body: unknown, id: string): boolean {
  return typeof body === 'string' && body.includes(markerOf(id));
}

const markerOf = (id: string): string => `${PREFIX}${id} -->`;

/** The body as its author wrote it. */
export function withoutMarkers(body: string): string {
  return body.replaceAll(/(?:\n\n|\r\n\r\n)?<!-- toolkeel:[\w.:-]{1,255} -->/g, '');
}
