import { Writable } from 'node:stream';

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

  const wire = new Writable({
    decodeStrings: false,
    highWaterMark: stdout.writableHighWaterMark,
    write: (chunk: string | Uint8Array, encoding, done) => {
      if (typeof chunk === 'string') real(chunk, encoding, done);
      else real(chunk, done);
    },
  });
  const broken = (error: Error): void => void wire.destroy(error);
  stdout.on('error', broken);

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
      stdout.off('error', broken);
      if (hadOwn) stdout.write = real;
      else Reflect.deleteProperty(stdout, 'write');
    },
  };
}
