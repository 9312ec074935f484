import type { JsonSchema } from '@toolkeel/contract';
import { UsageError } from '../usage-error.js';

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
