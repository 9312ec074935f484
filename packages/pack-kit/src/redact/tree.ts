type Container = unknown[] | Record<string, unknown>;

interface Redaction {
  readonly contains: (text: string) => boolean;
  readonly redact: (text: string) => string;
}

/** One container after the other, without recursion: the upstream decides how deep an answer is. */
export function redactTree(root: unknown, { contains, redact }: Redaction): unknown {
  const holder = [root];
  const open: Container[] = [holder];
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value);
    if (typeof value === 'number') return contains(String(value)) ? null : value;
    if (typeof value === 'object' && value !== null) open.push(value as Container);
    return value;
  };
  for (let container = open.pop(); container; container = open.pop()) {
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index++) {
        container[index] = visit(container[index]);
      }
    } else {
      for (const key of Object.keys(container)) {
        const given = container[key];
        const [name, value] = [redact(key), visit(given)];
        if (name === key && value === given) continue;
        if (name !== key) Reflect.deleteProperty(container, key);
        // Not by assignment: `__proto__` is a name like any other in an answer.
        const how = { value, writable: true, enumerable: true, configurable: true };
        Object.defineProperty(container, name, how);
      }
    }
  }
  return holder[0];
}
