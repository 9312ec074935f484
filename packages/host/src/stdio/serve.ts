import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio as serveSdk } from '@modelcontextprotocol/server/stdio';
import type { Deliveries } from '../call/deliveries.js';
import type { HostLog } from '../log/log.js';
import { LineTransport } from './line-transport.js';
import { guardStdout } from './stdout-guard.js';

export interface StdioOptions {
  readonly stdin?: NodeJS.ReadStream;
  readonly stdout?: NodeJS.WriteStream;
}

export interface StdioHandle {
  /** Resolves when the client has gone or `close` was called. */
  readonly closed: Promise<void>;
  readonly close: () => Promise<void>;
}

/** Serves one client over stdin and stdout, in whichever era of the protocol it opens with. */
export function serveOnStdio(
  make: () => McpServer,
  log: HostLog,
  deliveries: Deliveries,
  { stdin = process.stdin, stdout = process.stdout }: StdioOptions = {},
): StdioHandle {
  const guard = guardStdout(stdout, (text) => log('warn', 'stray_stdout', { text }));
  const { promise: closed, resolve } = withResolvers();
  const onClosed = (): void => {
    guard.release();
    resolve();
  };
  const transport = new LineTransport(stdin, guard.wire, onClosed, deliveries.begin);
  const handle = serveSdk(make, {
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
