import { didYouMean } from '../text/nearest.js';
import { characters } from '../text/words.js';
import type { IssuePath, PolicyIssue } from './issue.js';

/** The part of JSON Schema that our own schema is written in. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly propertyNames?: Schema;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** Far deeper than anybody writes, and far from the end of the stack. */
const MAX_DEPTH = 100;

/**
 * Holds a value against our schema, and says in words what is wrong. The schema that editors read is
 * the one that is checked, so the two cannot disagree.
 */
export function validate(root: Schema, value: unknown): PolicyIssue[] {
  const defs = root.$defs ?? {};

  function check(given: Schema, at: unknown, path: IssuePath): PolicyIssue[] {
    const schema = given.$ref ? (defs[given.$ref.slice('#/$defs/'.length)] ?? {}) : given;
    if (path.length > MAX_DEPTH) return [{ path, message: 'is nested too deeply' }];
    const wrong = (message: string): PolicyIssue[] => [{ path, message }];

    if (schema.anyOf) {
      const tries = schema.anyOf.map((branch) => check(branch, at, path));
      if (tries.every((issues) => issues.length > 0)) {
        const keys = schema.anyOf.flatMap(({ required = [] }) => required);
        if (keys.length > 0) return wrong(`needs ${quoted(keys, 'or')}`);
        return tries[nearestBranch(schema, at)] ?? [];
      }
    }
    if (schema.enum && !schema.enum.includes(at)) return wrong(notAmong(schema.enum, at));
    if (schema.type && !isOfType(schema.type, at)) return wrong(`must be ${typeWords(schema)}`);
    if (typeof at === 'string') return textProblems(schema, at).flatMap(wrong);
    if (typeof at === 'number') return numberProblems(schema, at).flatMap(wrong);
    if (Array.isArray(at)) {
      const items: readonly unknown[] = at;
      const { length } = items;
      if (length < (schema.minItems ?? 0) || length > (schema.maxItems ?? Infinity)) {
        return wrong(`must hold ${range(schema.minItems, schema.maxItems)}`);
      }
      return items.flatMap((item, index) => {
        const of = schema.prefixItems?.[index] ?? schema.items;
        return of ? check(of, item, [...path, index]) : [];
      });
    }
    return isObject(at) ? membersOf(schema, at, path) : [];
  }

  function membersOf(
    schema: Schema,
    object: Readonly<Record<string, unknown>>,
    path: IssuePath,
  ): PolicyIssue[] {
    const { properties = {}, patternProperties = {}, required = [] } = schema;
    const keys = Object.keys(object).filter((key) => object[key] !== undefined);
    const missing = required.filter((key) => !keys.includes(key));
    if (missing.length > 0) return [{ path, message: `needs ${quoted(missing, 'and')}` }];
    if (keys.length < (schema.minProperties ?? 0)) {
      const others = Object.keys(properties).filter((key) => !required.includes(key));
      return [{ path, message: `needs one of ${others.join(', ')}` }];
    }
    return keys.flatMap((key) => {
      const here = [...path, key];
      const named = schema.propertyNames ? check(schema.propertyNames, key, here) : [];
      if (named.length > 0) return named;
      const pattern = Object.keys(patternProperties).find((one) => matches(one, key));
      const of =
        (Object.hasOwn(properties, key) ? properties[key] : undefined) ??
        (pattern === undefined ? schema.additionalProperties : patternProperties[pattern]);
      if (of) return check(of, object[key], here);
      if (of === undefined) return [];
      return [{ path: here, message: unknownMember(key, schema) }];
    });
  }

  return check(root, value, []);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const expressions = new Map<string, RegExp>();

/** The patterns are our own, and few. */
function matches(pattern: string, text: string): boolean {
  const expression = expressions.get(pattern) ?? new RegExp(pattern, 'u');
  expressions.set(pattern, expression);
  return expression.test(text);
}

/** Of several shapes, the one that somebody who wrote this value had in mind. */
function nearestBranch({ anyOf = [] }: Schema, value: unknown): number {
  const fitting = anyOf.findIndex(({ type, enum: choices }) =>
    type ? isOfType(type, value) : choices !== undefined && typeof value === 'string',
  );
  return Math.max(0, fitting);
}

function isOfType(type: string | readonly string[], value: unknown): boolean {
  if (typeof type !== 'string') return type.some((one) => isOfType(one, value));
  if (type === 'object') return isObject(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'number') return Number.isFinite(value);
  return typeof value === type;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function typeWords({ type = [] }: Schema): string {
  return [type]
    .flat()
    .map((one) => typeNames[one] ?? one)
    .join(' or ');
}

function notAmong(choices: readonly unknown[], value: unknown): string {
  const known = choices.map(String);
  return `must be one of ${known.join(', ')}.${typeof value === 'string' ? didYouMean(value, known) : ''}`;
}

function textProblems(schema: Schema, value: string): string[] {
  const { minLength = 0, maxLength = Infinity, pattern, description = 'different' } = schema;
  if (value.length < minLength) return ['must not be empty'];
  if (value.length > maxLength && characters(value) > maxLength)
    return [`must have at most ${maxLength} characters`];
  return pattern && !matches(pattern, value) ? [`must be ${description}`] : [];
}

function numberProblems(schema: Schema, value: number): string[] {
  const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = schema;
  if (value < minimum) return [`must be at least ${minimum}`];
  if (value <= exclusiveMinimum) return [`must be more than ${exclusiveMinimum}`];
  return value > maximum ? [`must be at most ${maximum}`] : [];
}

const range = (min = 0, max = Infinity): string =>
  max === Infinity ? `at least ${min}` : min === max ? `exactly ${min}` : `${min} to ${max}`;

const quoted = (words: readonly string[], last: string): string =>
  words.map((word) => `"${word}"`).join(` ${last} `);

function unknownMember(key: string, { properties = {}, patternProperties }: Schema): string {
  const known = Object.keys(properties);
  const hint = didYouMean(key, known);
  if (hint || !patternProperties) return `is not known.${hint || ` Known: ${known.join(', ')}.`}`;
  // The only members by pattern are arguments.
  return `is not known. An argument is written like args.text or args.list[*]. Else: ${known.join(', ')}.`;
}
