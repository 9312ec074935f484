import * as z from 'zod';
import { invalid } from '../problems.js';
import { compareIds, isId, type Post } from '../world/records.js';

/** Reads and validates a JSON body. */
export async function bodyIn<Value>(request: Request, schema: z.ZodType<Value>): Promise<Value> {
  const type = request.headers.get('content-type') ?? '';
  if (!type.toLowerCase().startsWith('application/json'))
    throw invalid('Requests with bodies must have content-type of application/json.');
  const text = await request.text();
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw invalid('Request body must be a JSON object.');
  }
  const checked = schema.safeParse(given);
  if (checked.success) return checked.data;
  throw invalid(checked.error.issues.map(messageOf).join('; '));
}

function messageOf({ path, message, ...issue }: z.core.$ZodIssue): string {
  const at = ['$', ...path.map(String)].join('.');
  if (issue.code !== 'unrecognized_keys') return `${at}: ${message}`;
  return issue.keys
    .map(
      (key) =>
        `${at}.${key}: is not defined in the schema and the schema does not allow additional properties`,
    )
    .join('; ');
}

export const idSchema = z
  .string()
  .regex(/^[0-9]{1,19}$/, 'does not match the regex pattern ^[0-9]{1,19}$');

/** Reads the query parameters, and rejects unknown ones. */
export function checkedQuery(url: string, known: readonly string[]): URLSearchParams {
  const { searchParams } = new URL(url);
  for (const name of searchParams.keys())
    if (!known.includes(name))
      throw invalid(`The query parameter [${name}] is not one of [${known.join(',')}]`, {
        [name]: [searchParams.get(name) ?? ''],
      });
  return searchParams;
}

function wrong(name: string, value: string, why: string): Error {
  return invalid(`The \`${name}\` query parameter value [${value}] ${why}`, { [name]: [value] });
}

export function idFrom(name: string, value: string): string {
  if (!isId(value)) throw wrong(name, value, 'is not valid');
  return value;
}

export function usernameFrom(name: string, value: string): string {
  if (!/^\w{1,15}$/.test(value)) throw wrong(name, value, 'does not match ^[A-Za-z0-9_]{1,15}$');
  return value;
}

/** Up to a hundred comma-separated values. */
export function listIn(
  query: URLSearchParams,
  name: string,
  check: (name: string, value: string) => string,
): string[] {
  const given = query.get(name) ?? '';
  if (given === '')
    throw invalid(`The \`${name}\` query parameter can not be empty`, { [name]: [given] });
  const values = given.split(',');
  if (values.length > 100)
    throw invalid(
      `The number of values in the \`${name}\` query parameter list [${values.length}] is not between 1 and 100`,
      { [name]: [given] },
    );
  return values.map((value) => check(name, value));
}

export interface Range {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
}

export function numberIn(
  query: URLSearchParams,
  name: string,
  { min, max, fallback }: Range,
): number {
  const given = query.get(name);
  if (given === null) return fallback;
  const value = /^-?\d{1,9}$/.test(given) ? Number(given) : NaN;
  if (Number.isNaN(value)) throw wrong(name, given, 'is not a valid integer');
  if (value < min || value > max) throw wrong(name, given, `is not between ${min} and ${max}`);
  return value;
}

/** Comma-separated words from a list. */
export function wordsIn(query: URLSearchParams, name: string, known: readonly string[]): string[] {
  const given = query.get(name);
  if (given === null) return [];
  const words = given.split(',');
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined) throw wrong(name, unknown, `is not one of [${known.join(',')}]`);
  return words;
}

export function idIn(query: URLSearchParams, name: string): string | undefined {
  const given = query.get(name);
  return given === null ? undefined : idFrom(name, given);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;

export function instantIn(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  const at = INSTANT.test(given) ? Date.parse(given) : NaN;
  if (Number.isNaN(at)) throw wrong(name, given, 'is not a valid RFC3339 date');
  return at;
}

export const PERIOD = ['since_id', 'until_id', 'start_time', 'end_time'] as const;

/** The predicate of `since_id`, `until_id`, `start_time` and `end_time`. */
export function periodIn(query: URLSearchParams): (post: Post) => boolean {
  const [since, until] = [idIn(query, 'since_id'), idIn(query, 'until_id')];
  const [start, end] = [instantIn(query, 'start_time'), instantIn(query, 'end_time')];
  if (start !== undefined && end !== undefined && start >= end)
    throw invalid("Invalid 'start_time'. 'start_time' must be a date before 'end_time'", {
      start_time: [query.get('start_time') ?? ''],
    });
  return ({ id, createdAt }) =>
    (since === undefined || compareIds(id, since) > 0) &&
    (until === undefined || compareIds(id, until) < 0) &&
    (start === undefined || createdAt >= start) &&
    (end === undefined || createdAt < end);
}
