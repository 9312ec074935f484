import { keepable } from '../../text.js';
import type { Query } from '../script.js';

interface Compiled {
  readonly text: string;
  /** Which value stands at which `?`. */
  readonly order: readonly number[];
}

const compiled = new Map<string, Compiled>();

/** `$1` becomes `?`, with the values in the order in which they are used. */
export function toSqlite({ text, values }: Query): {
  readonly text: string;
  readonly values: readonly unknown[];
} {
  let found = compiled.get(text);
  if (found === undefined) compiled.set(text, (found = compile(text)));
  return { text: found.text, values: found.order.map((at) => toValue(values[at])) };
}

function compile(text: string): Compiled {
  const order: number[] = [];
  const rewritten = text.replaceAll(/\$(\d+)/g, (_, n: string) => {
    order.push(Number(n) - 1);
    return '?';
  });
  return { text: rewritten, order };
}

function toValue(value: unknown): unknown {
  return typeof value === 'string' ? keepable(value) : (value ?? null);
}
