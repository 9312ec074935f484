/** A part of a value that JSON cannot represent. */
interface JsonFlaw {
  readonly path: readonly (string | number)[];
  /** A fixed description that contains nothing of the value. */
  readonly problem: string;
}

const MAX_DEPTH = 200;
/** Bounds the work on very large values. */
const MAX_NODES = 1_000_000;

interface Options {
  /** Also rejects lone surrogates, which canonical JSON and UTF-8 cannot represent. */
  readonly wellFormed?: boolean;
}

/**
 * The first part of a value that JSON.stringify would change silently (NaN, a Map, an undefined array
 * element) or throw on (BigInt, a cycle). Undefined members are allowed and count as absent.
 */
export function findJsonFlaw(
  root: unknown,
  { wellFormed = false }: Options = {},
): JsonFlaw | undefined {
  let nodes = 0;
  const stringFlaw = (text: string): JsonFlaw | undefined =>
    wellFormed && isIllFormed(text) ? flawed('a lone surrogate') : undefined;
  const visit = (value: unknown, depth: number): JsonFlaw | undefined => {
    nodes += 1;
    switch (typeof value) {
      case 'string':
        return stringFlaw(value);
      case 'boolean':
        return undefined;
      case 'number':
        return Number.isFinite(value) ? undefined : flawed(String(value));
      case 'object':
        return value === null ? undefined : visitObject(value, depth);
      default:
        return flawed(typeof value);
    }
  };
  const visitObject = (value: object, depth: number): JsonFlaw | undefined => {
    if (depth >= MAX_DEPTH) return flawed('a cycle, or nested too deeply');
    if (nodes > MAX_NODES) return flawed('too many values');
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        const flaw = visit(value[index], depth + 1);
        if (flaw) return inside(index, flaw);
      }
      return undefined;
    }
    if (!isPlainObject(value)) return flawed('not a plain object');
    for (const key of Object.keys(value)) {
      const member: unknown = (value as Record<string, unknown>)[key];
      if (member === undefined) continue;
      const flaw = stringFlaw(key) ?? visit(member, depth + 1);
      if (flaw) return inside(key, flaw);
    }
    return undefined;
  };
  return visit(root, 0);
}

function flawed(problem: string): JsonFlaw {
  return { path: [], problem };
}

function inside(step: string | number, { path, problem }: JsonFlaw): JsonFlaw {
  return { path: [step, ...path], problem };
}

/** Whether a value is an object literal, as JSON.parse creates them. */
export function isPlainObject(value: unknown): value is object {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Truncates a string with an ellipsis, without splitting a surrogate pair. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength - 1);
  const last = head.charCodeAt(head.length - 1);
  const endsInSurrogate = last >= 0xd800 && last <= 0xdbff;
  return `${endsInSurrogate ? head.slice(0, -1) : head}…`;
}

/** String methods of Node.js 20 that TypeScript declares only for ES2024. */
interface WellFormedMethods {
  isWellFormed: () => boolean;
  toWellFormed: () => string;
}

/** Whether a string contains a lone surrogate, which UTF-8 cannot represent. */
export function isIllFormed(text: string): boolean {
  return !(text as string & WellFormedMethods).isWellFormed();
}

/** Replaces lone surrogates by U+FFFD. */
export function wellFormed(text: string): string {
  return (text as string & WellFormedMethods).toWellFormed();
}

/** An own member of a value of unknown shape; ignores inherited members. */
export function ownMember(value: unknown, name: string): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
