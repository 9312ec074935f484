const MAX_DEPTH = 5;
const MAX_STACK = 4000;

/** A thrown value as fields of a log line: name, message, stack and what caused it. */
export function describeCause(cause: unknown, depth = 0): unknown {
  if (!(cause instanceof Error)) return describeThrown(cause);
  const { name, message, stack = '', cause: deeper } = cause;
  const code: unknown = 'code' in cause ? cause.code : undefined;
  return {
    name,
    message,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    stack: stack.slice(0, MAX_STACK),
    ...(deeper !== undefined && depth < MAX_DEPTH && { cause: describeCause(deeper, depth + 1) }),
  };
}

/** Anything can be thrown, also what cannot be printed. */
function describeThrown(thrown: unknown): unknown {
  try {
    if (typeof thrown === 'object' && thrown !== null) {
      return JSON.parse(JSON.stringify(thrown) ?? 'null') as unknown;
    }
    return String(thrown);
  } catch {
    return 'something that cannot be printed';
  }
}
