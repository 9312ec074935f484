import { keepable } from '../../text.js';
import type { Query } from '../script.js';

const compiled = new Map<string, string>();

/** `$1` becomes `?1`, so that a value which is used several times is bound once. */
export function toSqlite({ text, values }: Query): {
  readonly text: string;
  readonly values: readonly unknown[];
} {
  let found = compiled.get(text);
  if (found === undefined) compiled.set(text, (found = text.replaceAll(/\$(\d+)/g, '?$1')));
  return { text: found, values: values.map(toValue) };
}

function toValue(value: unknown): unknown {
  return typeof value === 'string' ? keepable(value) : (value ?? null);
}
