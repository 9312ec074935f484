import type { Redactor } from '@toolkeel/pack-kit';

/**
 * Parses untrusted JSON into a value that can be serialized again, with credentials redacted. Throws a
 * `SyntaxError` if it is not JSON.
 */
export function parseJson(text: string, secrets?: Redactor): unknown {
  const value: unknown = sanitize(JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text));
  // Searching the whole text once is much cheaper than searching each of its strings.
  return secrets?.contains(text) ? secrets.redactJson(value) : value;
}

/** Protects recursive readers of the value from a stack overflow. */
const MAX_DEPTH = 64;
const TOO_DEEP = '[nested too deeply]';

type Container = unknown[] | Record<string, unknown>;

/**
 * Replaces lone surrogates, infinite numbers and values that are nested too deeply. In place and
 * iteratively, because a `JSON.parse` reviver takes many times as long.
 */
function sanitize(root: unknown): unknown {
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

/** `defineProperty`, because assigning to `__proto__` would set the prototype. */
function define(container: Record<string, unknown>, name: string, value: unknown): void {
  const how = { value, writable: true, enumerable: true, configurable: true };
  Object.defineProperty(container, name, how);
}

const SURROGATE = /\p{Surrogate}/gu;
const HAS_SURROGATE = /\p{Surrogate}/u;

const wellFormed = (text: string): string =>
  HAS_SURROGATE.test(text) ? text.replaceAll(SURROGATE, '\uFFFD') : text;
