import type { KnownSecrets } from './known-secrets.js';

type Container = unknown[] | Record<string, unknown>;

/**
 * Takes secrets out of parsed JSON, names and values. In place, and one container after the other: how
 * deep an answer is nested is not ours to say.
 */
export function clean(root: unknown, secrets: KnownSecrets): unknown {
  const holder = [root];
  const open: Container[] = [holder];
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return secrets.takeOut(value);
    // A secret may be all digits.
    if (typeof value === 'number') return secrets.isIn(String(value)) ? null : value;
    if (typeof value === 'object' && value !== null) open.push(value as Container);
    return value;
  };
  for (let container = open.pop(); container; container = open.pop()) {
    if (Array.isArray(container)) {
      for (const [index, value] of container.entries()) container[index] = visit(value);
    } else cleanMembers(container, visit, secrets);
  }
  return holder[0];
}

function cleanMembers(
  container: Record<string, unknown>,
  visit: (value: unknown) => unknown,
  secrets: KnownSecrets,
): void {
  for (const key of Object.keys(container)) {
    const given = container[key];
    const [name, value] = [secrets.takeOut(key), visit(given)];
    if (name === key && value === given) continue;
    Reflect.deleteProperty(container, key);
    // Not by assignment: `__proto__` is a name like any other to an upstream.
    const how = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(container, name, how);
  }
}
