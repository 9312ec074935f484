/** What JSON would lose or refuse, and where. */
export interface JsonFlaw {
  readonly path: string;
  readonly problem: string;
}

const MAX_DEPTH = 200;
/** Bounds the work on an answer that is far over every budget, or that shares its parts a lot. */
const MAX_NODES = 1_000_000;

/**
 * The first thing in a value that JSON.stringify would turn into something else without a word
 * (NaN into null, a Map into {}, an undefined item into null) or throw on (BigInt, a cycle).
 * Members that are undefined are fine: they are simply not there.
 */
export function findJsonFlaw(root: unknown): JsonFlaw | undefined {
  let nodes = 0;
  const visit = (value: unknown, depth: number): JsonFlaw | undefined => {
    nodes += 1;
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return undefined;
      case 'number':
        return Number.isFinite(value) ? undefined : { path: '', problem: String(value) };
      case 'object':
        return value === null ? undefined : visitObject(value, depth);
      default:
        return { path: '', problem: typeof value };
    }
  };
  const visitObject = (value: object, depth: number): JsonFlaw | undefined => {
    if (depth >= MAX_DEPTH) return { path: '', problem: 'a cycle, or nested too deeply' };
    if (nodes > MAX_NODES) return { path: '', problem: 'too many values' };
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        const flaw = visit(value[index], depth + 1);
        if (flaw) return { ...flaw, path: `[${index}]${flaw.path}` };
      }
      return undefined;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      return { path: '', problem: 'not a plain object' };
    }
    for (const key of Object.keys(value)) {
      const member: unknown = (value as Record<string, unknown>)[key];
      if (member === undefined) continue;
      const flaw = visit(member, depth + 1);
      if (flaw) return { ...flaw, path: `.${key}${flaw.path}` };
    }
    return undefined;
  };
  return visit(root, 0);
}
