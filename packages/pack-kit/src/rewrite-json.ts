type Container = unknown[] | Record<string, unknown>;

/**
 * Replaces the values and the names of parsed JSON in place. Iterative, because the upstream controls the
 * nesting depth; not a `JSON.parse` reviver, which takes many times as long.
 */
export function rewriteJson(
  root: unknown,
  replace: (given: unknown, depth: number) => unknown,
): unknown {
  const holder = [root];
  const open: Container[] = [holder];
  const depths = [0];
  for (let container = open.pop(); container; container = open.pop()) {
    const depth = depths.pop()!;
    const visit = (given: unknown): unknown => {
      const value = replace(given, depth);
      if (typeof value === 'object' && value !== null) {
        open.push(value as Container);
        depths.push(depth + 1);
      }
      return value;
    };
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index++) {
        const given = container[index];
        const value = visit(given);
        if (value !== given) container[index] = value;
      }
      continue;
    }
    for (const key of Object.keys(container)) {
      const given = container[key];
      const [name, value] = [replace(key, depth) as string, visit(given)];
      if (name === key && value === given) continue;
      if (name !== key) Reflect.deleteProperty(container, key);
      // Not by assignment: `__proto__` is an ordinary key in JSON.
      const how = { value, writable: true, enumerable: true, configurable: true };
      Object.defineProperty(container, name, how);
    }
  }
  return holder[0];
}
