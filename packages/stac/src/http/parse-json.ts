import type { Redactor } from '@toolkeel/pack-kit';

/**
 * Parses JSON into what can be written as JSON again, without our own credentials. Throws a
 * SyntaxError for what is no JSON.
 */
export function parseJson(text: string, secrets?: Redactor): unknown {
  const value: unknown = clean(JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text));
  // One look at the whole text is much cheaper than one at each of its strings.
  return secrets?.contains(text) ? secrets.redactJson(value) : value;
}

/** Nobody means more; and what reads an answer recursively must not run out of stack. */
const MAX_DEPTH = 64;
const TOO_DEEP = '[nested too deeply]';

type Container = unknown[] | Record<string, unknown>;

/**
 * Makes parsed JSON into what can be written as JSON again. In place and one value after the other: a
 * reviver would take many times as long.
 */
function clean(root: unknown): unknown {
  const holder = [root];
  const open: Container[] = [holder];
  const depths = [0];
  for (let container = open.pop(); container; container = open.pop()) {
    const depth = depths.pop()!;
    const visit = (value: unknown): unknown => {
      if (typeof value === 'string') return wellFormed(value);
      if (typeof value === 'number') return Number.isFinite(value) ? value : null;
      if (typeof value !== 'object' || value === null) return value;
      if (depth >= MAX_DEPTH) return TOO_DEEP;
      open.push(value as Container);
      depths.push(depth + 1);
      return value;
    };
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index++) {
        const value = container[index];
        const kept = visit(value);
        if (kept !== value) container[index] = kept;
      }
      continue;
    }
    for (const key of Object.keys(container)) {
      const value = container[key];
      const [name, kept] = [wellFormed(key), visit(value)];
      if (name !== key) Reflect.deleteProperty(container, key);
      if (name !== key || kept !== value) define(container, name, kept);
    }
  }
  return holder[0];
}

/** Not by assignment: `__proto__` is a name like any other to an upstream. */
function define(container: Record<string, unknown>, name: string, value: unknown): void {
  const how = { value, writable: true, enumerable: true, configurable: true };
  Object.defineProperty(container, name, how);
}

const SURROGATE = /\p{Surrogate}/gu;
const HAS_SURROGATE = /\p{Surrogate}/u;

const wellFormed = (text: string): string =>
  HAS_SURROGATE.test(text) ? text.replaceAll(SURROGATE, '\uFFFD') : text;
