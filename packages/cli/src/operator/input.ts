import { userInfo } from 'node:os';
import type { JsonSchema } from '@toolkeel/contract';
import { UsageError } from '../errors.js';
import type { OpenedOperatorJournal } from './journal.js';

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u;

/** The name for the audit: --by, else the user of the operating system. */
export function actorOf(given: string | undefined): string {
  const name = given ?? osUser();
  if (NAME.test(name)) return name;
  throw new UsageError('--by must be a name of at most 100 letters, digits, spaces or . _ @ -');
}

function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    throw new UsageError('The operating system has no name for your user. Use --by NAME.');
  }
}

/** Shorter prefixes are too ambiguous for a decision. */
const MIN_DIGITS = 4;
const MAX_SHOWN = 5;

/** Resolves a unique prefix of an operation id. */
export async function findId(
  { store }: Pick<OpenedOperatorJournal, 'store'>,
  typed: string,
): Promise<string> {
  const [, digits] = /^op_([\da-z]*)$/.exec(typed) ?? [];
  if (digits === undefined) return typed;
  if (digits.length < MIN_DIGITS) {
    throw new UsageError(
      `${typed} is too short to identify an operation. Use its id, or at least op_ and ${MIN_DIGITS} more characters.`,
    );
  }
  if (await store.get(typed)) return typed;
  const found = await store.list({ idPrefix: typed, limit: MAX_SHOWN });
  const [only, ...others] = found.map(({ id }) => id);
  if (only === undefined || others.length === 0) return only ?? typed;
  throw new UsageError(
    `${typed} is ambiguous: ${[only, ...others].join(', ')}. Use a longer prefix.`,
  );
}

/**
 * Parses a value from the command line. An argument whose schema allows only strings gets a string, so
 * that `1234` stays an id; any other value is parsed as JSON where possible.
 */
export function readValue(name: string, typed: string, schema: unknown): unknown {
  if (isString(schema)) return unquote(typed) ?? typed;
  if (!/^([[{"]|-?\d|true$|false$|null$)/.test(typed)) return typed;
  try {
    return JSON.parse(typed) as unknown;
  } catch (cause) {
    throw new UsageError(`--set ${name} must be JSON.`, { cause });
  }
}

export function argumentSchema(input: JsonSchema | undefined, name: string): unknown {
  const { properties } = input ?? {};
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  return Object.hasOwn(known, name) ? (known as Record<string, unknown>)[name] : undefined;
}

function isString(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { type, enum: list, const: only, anyOf, oneOf } = schema as JsonSchema;
  if (type !== undefined) return type === 'string';
  if (Array.isArray(list)) return list.every((value) => typeof value === 'string');
  if (only !== undefined) return typeof only === 'string';
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) && choices.length > 0 && choices.every(isString);
}

/** A JSON string literal. */
function unquote(typed: string): string | undefined {
  try {
    const value: unknown = typed.startsWith('"') ? JSON.parse(typed) : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
