import type { PolicyTool } from '../catalogue.js';
import type { Operators } from '../config/types.js';
import { declaredAt, declaredPaths, type Declared } from '../paths/declared.js';
import type { Segment } from '../paths/path.js';
import { didYouMean } from '../text/nearest.js';
import { listWords, quote } from '../text/words.js';
import { operators as table } from './operators.js';

/** Why a condition cannot hold for a tool: no such argument, another type, or a value it never has. */
export interface Misfit {
  readonly cause: 'undeclared' | 'type' | 'value';
  readonly reason: string;
  /** Follows the reason where it stands alone. */
  readonly hint: string;
}

/** Why this cannot be meant for a tool, by its schema; undefined if it can. */
export function misfitOf(
  path: string,
  segments: readonly Segment[],
  asked: Operators,
  tool: PolicyTool,
): Misfit | undefined {
  const declared = declaredAt(tool.inputSchema, segments);
  if (!declared) return { cause: 'undeclared', reason: 'is not declared', hint: '' };
  const why = wrongType(path, asked, declared) ?? wrongValue(asked, declared);
  if (!why) return undefined;
  const { cause, is, but, hint } = why;
  return { cause, reason: `is ${is} in ${tool.name}, ${but}`, hint };
}

export function unknownArgument(path: string, tools: readonly PolicyTool[]): string {
  const known = [...new Set(tools.flatMap(({ inputSchema }) => declaredPaths(inputSchema)))];
  const [only, ...others] = tools;
  const who =
    others.length === 0 ? `${only?.name} has no` : `none of these ${tools.length} tools has`;
  const list = known.length === 0 ? '' : ` Known: ${known.slice(0, 12).join(', ')}.`;
  const hint = didYouMean(path, known, (name) => name.slice('args'.length));
  return `${who} such argument.${hint || list}`;
}

interface Mismatch {
  readonly cause: 'type' | 'value';
  readonly is: string;
  readonly but: string;
  readonly hint: string;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'nothing',
};

const typeWords = (types: Iterable<string>): string =>
  [...types].map((type) => typeNames[type] ?? type).join(' or ');

function wrongType(path: string, asked: Operators, { types }: Declared): Mismatch | undefined {
  const name = (Object.keys(asked) as (keyof Operators)[]).find((one) => {
    const { of } = table[one];
    return types && of.length > 0 && !of.some((type) => types.has(type));
  });
  if (!types || !name) return undefined;
  const hint = types.has('array') ? `. For its items write "${path}[*]".` : '.';
  const but = `and "${name}" is asked of ${typeWords(table[name].of)}`;
  return { cause: 'type', is: typeWords(types), but, hint };
}

function wrongValue(asked: Operators, { values, types }: Declared): Mismatch | undefined {
  const { equals, notEquals, in: list = [], notIn = [] } = asked;
  const named = [equals, notEquals, ...list, ...notIn].filter((value) => value !== undefined);
  const unlisted = values && named.find((value) => !values.includes(value));
  if (values && unlisted !== undefined) {
    const hint = `.${didYouMean(String(unlisted), values.map(String))}`;
    const cause = types && !types.has(typeof unlisted) ? 'type' : 'value';
    return { cause, is: listWords(values), but: `never ${quote(unlisted)}`, hint };
  }
  const stranger = types && named.find((value) => !types.has(typeof value));
  if (!types || stranger === undefined) return undefined;
  return { cause: 'type', is: typeWords(types), but: `never ${quote(stranger)}`, hint: '' };
}
