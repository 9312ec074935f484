import type { JsonObject } from '../../json.js';

/** An answer that is not what was asked for: thrown while a request is worked out, caught once at its edge. */
export class XProblem extends Error {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}) {
    super(`${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Live answers name the old host; the specification names the new one. */
export const typeOf = (name: string): string => `https://api.twitter.com/2/problems/${name}`;

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** A problem that has no type of its own. */
export function blank(status: number, detail?: string): JsonObject {
  const title = titles[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error');
  return { title, detail: detail ?? title, type: 'about:blank', status };
}

export const unauthorized = (): XProblem => new XProblem(401, blank(401));
export const forbidden = (detail: string): XProblem => new XProblem(403, blank(403, detail));

/** Parameters that are named wrongly or hold what they cannot hold. */
export function invalid(
  message: string,
  parameters: Readonly<Record<string, readonly string[]>> = {},
): XProblem {
  return new XProblem(400, {
    errors: [{ parameters, message }],
    title: 'Invalid Request',
    detail: 'One or more parameters to your request was invalid.',
    type: typeOf('invalid-request'),
  });
}
