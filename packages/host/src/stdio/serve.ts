import type { Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio as serveSdk } from '@modelcontextprotocol/server/stdio';
import type { Deliveries } from '../call/deliveries.js';
import type { DirectCalls } from '../mcp/direct-calls.js';
import type { HostLog } from '../log/log.js';
import { LineTransport } from './line-transport.js';

export interface StdioOptions {
  readonly stdin?: NodeJS.ReadStream;
  readonly stdout?: NodeJS.WriteStream;
}

export interface StdioHandle {
  /** Resolves when the client has disconnected or `close` was called. */
  readonly closed: Promise<void>;
  readonly close: () => Promise<void>;
}

/** Serves one client over stdin and stdout, in the protocol revision that it starts with. */
export function serveOnStdio(
  createServer: () => McpServer,
  log: HostLog,
  deliveries: Deliveries,
  direct?: DirectCalls,
  { stdin = process.stdin, stdout = process.stdout }: StdioOptions = {},
): StdioHandle {
  const guard = guardStdout(stdout, (text) => log('warn', 'stray_stdout', { text }));
  const { promise: closed, resolve } = withResolvers();
  const onClosed = (): void => {
    guard.release();
    resolve();
  };
  const transport = new LineTransport(stdin, guard.output, onClosed, deliveries.begin, direct);
  const handle = serveSdk(createServer, {
    transport,
    onerror: (error) => log('warn', 'transport_error', { message: error.message }),
  });
  return { closed, close: () => handle.close() };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

type Write = typeof process.stdout.write;

interface StdoutGuard {
  /** The real stdout while the guard is active. */
  readonly output: Writable;
  readonly release: () => void;
}

/**
 * Reserves stdout for MCP: a single `console.log` in a dependency would break the connection. Passes
 * everything else that is written there to `onStray`.
 */
export function guardStdout(
  stdout: NodeJS.WriteStream,
  onStray: (text: string) => void,
): StdoutGuard {
  const hadOwn = Object.hasOwn(stdout, 'write');
  const real = stdout.write.bind(stdout);
  // Only what the transport uses: a wrapping stream would cost as much as a small response.
  const output = {
    write: real,
    on: stdout.on.bind(stdout),
    once: stdout.once.bind(stdout),
    off: stdout.off.bind(stdout),
    listeners: stdout.listeners.bind(stdout),
  } as unknown as Writable;

  const redirected: Write = (chunk: unknown, encoding?: unknown, done?: unknown): boolean => {
    onStray(typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString());
    const callback = [encoding, done].find((argument) => typeof argument === 'function');
    if (callback) process.nextTick(callback);
    return true;
  };
  stdout.write = redirected;

  return {
    output,
    release: () => {
      if (hadOwn) stdout.write = real;
      else Reflect.deleteProperty(stdout, 'write');
    },
  };
}
