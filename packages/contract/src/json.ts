/** What JSON would lose or refuse, and where. */
interface JsonFlaw {
  readonly path: readonly (string | number)[];
  /** One of a few fixed words: nothing of the value itself. */
  readonly problem: string;
}

const MAX_DEPTH = 200;
/** Bounds the work on an answer that is far over every budget, or that shares its parts a lot. */
const MAX_NODES = 1_000_000;

interface Options {
  /** Refuse half surrogate pairs too: JSON can write them, canonical JSON and UTF-8 cannot. */
  readonly wellFormed?: boolean;
}

/**
 * The first thing in a value that JSON.stringify would turn into something else without a word
 * (NaN into null, a Map into {}, an undefined item into null) or throw on (BigInt, a cycle).
 * Members that are undefined are fine: they are simply not there.
 */
export function findJsonFlaw(
  root: unknown,
  { wellFormed = false }: Options = {},
): JsonFlaw | undefined {
  let nodes = 0;
  const flawOfText = (text: string): JsonFlaw | undefined =>
    wellFormed && isIllFormed(text) ? flawed('half a surrogate pair') : undefined;
  const visit = (value: unknown, depth: number): JsonFlaw | undefined => {
    nodes += 1;
    switch (typeof value) {
      case 'string':
        return flawOfText(value);
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
      const flaw = flawOfText(key) ?? visit(member, depth + 1);
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

/** Whether a value is an object as JSON has them. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The text, or its beginning and an ellipsis. Never ends in half a surrogate pair. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength - 1);
  const last = head.charCodeAt(head.length - 1);
  const endsInHalfAPair = last >= 0xd800 && last <= 0xdbff;
  return `${endsInHalfAPair ? head.slice(0, -1) : head}…`;
}

/** What every text has since Node 20, and TypeScript's library only since ES2024. */
interface Text {
  isWellFormed: () => boolean;
  toWellFormed: () => string;
}

/** Whether a text holds half a surrogate pair, which UTF-8 cannot carry. */
export function isIllFormed(text: string): boolean {
  return !(text as string & Text).isWellFormed();
}

/** The text with U+FFFD for every half of a surrogate pair. */
export function wellFormed(text: string): string {
  return (text as string & Text).toWellFormed();
}

/** A member of a value whose shape is not known; nothing that the value inherits. */
export function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
