/**
 * The suites that touch what differs between releases of Node: timers, signals, sockets, streams and
 * processes. `npm test` runs them a second time, on a newer Node; the others compute, and come to the
 * same result wherever they run.
 */
export const runtimeSuites: readonly string[] = [
  // Real timers, unhandled rejections, what keeps a process alive, what errors look like.
  'packages/kernel/test/*.test.ts',
  // Alarms, AbortSignal, streams.
  'packages/kernel/src/{engine,time}/*.test.ts',
  // Ticks, immediates and timers around a handler, streams around an answer.
  'packages/contract/src/run/*.test.ts',
  'packages/host/src/{call,http,stdio}/*.test.ts',
  'packages/host/src/log/log.test.ts',
  // A server on stdio and HTTP, its end, its clients. (Conformance chooses its own Nodes.)
  'packages/host/test/{delivery-*,ends,http,interop,tracing}.test.ts',
  // What a broken connection looks like, from both of its ends.
  'packages/sandbox/test/{control,faults}.test.ts',
  'packages/stac/test/{faults,ssrf}.test.ts',
  'packages/stac/src/http/ssrf.test.ts',
  // Which connections of a browser hold up the end of a server.
  'packages/x/test/callback.test.ts',
  // Newer Node brings SQLite along, older Node takes it from a package.
  'packages/journal/src/store/sqlite/*.test.ts',
  'packages/journal/test/sqlite-{clocks,failures,lost-commits}.test.ts',
  // Processes, signals, the cap.
  'packages/cli/test/{cap,lateness,serve,up}.test.ts',
];
