import type { Writable } from 'node:stream';

type Write = typeof process.stdout.write;

export interface StdoutGuard {
  /** The only way to the real stdout while the guard stands. */
  readonly wire: Writable;
  readonly release: () => void;
}

/**
 * On stdio, stdout belongs to MCP: one stray `console.log` of a dependency would end the connection.
 * Whatever else is written there goes to `stray`.
 */
export function guardStdout(
  stdout: NodeJS.WriteStream,
  stray: (text: string) => void,
): StdoutGuard {
  const hadOwn = Object.hasOwn(stdout, 'write');
  const real = stdout.write.bind(stdout);
  // Only what the transport uses. A stream around the stream would cost as much as a small answer.
  const wire = {
    write: real,
    on: stdout.on.bind(stdout),
    once: stdout.once.bind(stdout),
    off: stdout.off.bind(stdout),
    listeners: stdout.listeners.bind(stdout),
  } as unknown as Writable;

  const redirected: Write = (chunk: unknown, encoding?: unknown, done?: unknown): boolean => {
    stray(typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString());
    const tell = [encoding, done].find((one) => typeof one === 'function');
    if (tell) process.nextTick(tell);
    return true;
  };
  stdout.write = redirected;

  return {
    wire,
    release: () => {
      if (hadOwn) stdout.write = real;
      else Reflect.deleteProperty(stdout, 'write');
    },
  };
}
