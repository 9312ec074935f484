import { userInfo } from 'node:os';
import { UsageError } from '../errors.js';
import type { OpenedOperatorJournal } from './journal.js';
import type { JsonSchema } from '@toolkeel/contract';

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u;

/** Who decides, for the audit: who says so, else the user of this machine. */
export function actorOf(given: string | undefined): string {
  const name = given ?? osUser();
  if (NAME.test(name)) return name;
  throw new UsageError('--by must be a name of at most 100 letters, digits, spaces or . _ @ -');
}

function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    throw new UsageError('Nobody knows who you are here: say it with --by NAME.');
  }
}

/** Shorter ones say too little to decide anything by. */
const LEAST = 'op_'.length + 4;
const SHOWN = 5;

/** The operation that somebody means by the beginning of its id. */
export async function findId(
  { store }: Pick<OpenedOperatorJournal, 'store'>,
  typed: string,
): Promise<string> {
  if (typed.length < LEAST || !/^op_[\da-z]+$/.test(typed)) return typed;
  if (await store.get(typed)) return typed;
  const found = await store.list({ idPrefix: typed, limit: SHOWN });
  const [only, ...others] = found.map(({ id }) => id);
  if (only === undefined || others.length === 0) return only ?? typed;
  throw new UsageError(
    `${typed} can be several: ${[only, ...others].join(', ')}. Write more of it.`,
  );
}

/**
 * A value as somebody types it, for an argument of this schema. Where only a text can be meant, it is
 * one: `1234` is an id then, and not a number. Else it is JSON where it can be.
 */
export function readValue(name: string, typed: string, schema: unknown): unknown {
  if (isText(schema)) return quoted(typed) ?? typed;
  if (!/^([[{"]|-?\d|true$|false$|null$)/.test(typed)) return typed;
  try {
    return JSON.parse(typed) as unknown;
  } catch (cause) {
    throw new UsageError(`--set ${name} must be JSON.`, { cause });
  }
}

/** The argument of that name, as a tool declares it. */
export function argumentSchema(input: JsonSchema | undefined, name: string): unknown {
  const { properties } = input ?? {};
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  return Object.hasOwn(known, name) ? (known as Record<string, unknown>)[name] : undefined;
}

function isText(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { type, enum: list, const: only, anyOf, oneOf } = schema as JsonSchema;
  if (type !== undefined) return type === 'string';
  if (Array.isArray(list)) return list.every((one) => typeof one === 'string');
  if (only !== undefined) return typeof only === 'string';
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) && choices.length > 0 && choices.every(isText);
}

/** A text in quotes, as JSON writes it. */
function quoted(typed: string): string | undefined {
  try {
    const value: unknown = typed.startsWith('"') ? JSON.parse(typed) : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
