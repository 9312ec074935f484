/** An answer that is not what was asked for: thrown while a request is worked out, caught once at its edge. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    description: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(description);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export function badParameter(name: string, why: string): Problem {
  return new Problem(400, 'InvalidParameterValue', `${name}: ${why}`);
}

export function notFound(what: string): Problem {
  return new Problem(404, 'NotFoundError', `${what} does not exist`);
}
