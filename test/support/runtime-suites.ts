/**
 * The suites that depend on what differs between Node releases: timers, signals, sockets, streams and
 * processes. `npm test` repeats them on a newer Node; the others do not depend on the runtime.
 */
export const runtimeSuites: readonly string[] = [
  // Real timers, unhandled rejections, process lifetime, error shapes.
  'packages/kernel/test/*.test.ts',
  // Alarms, AbortSignal, streams.
  'packages/kernel/src/{engine,time}/*.test.ts',
  // Ticks, immediates and timers around a handler, streams around an answer.
  'packages/contract/src/run/*.test.ts',
  'packages/host/src/{call,http,stdio}/*.test.ts',
  'packages/host/src/log/log.test.ts',
  // A server on stdio and HTTP, its shutdown. (Conformance tests choose their own Node; the generations of
  // clients differ in the protocol only.)
  'packages/host/test/{delivery-*,ends,http,tracing}.test.ts',
  // Broken connections, on both ends.
  'packages/sandbox/test/{control,faults}.test.ts',
  'packages/stac/test/{faults,ssrf}.test.ts',
  'packages/pack-kit/test/*.test.ts',
  'packages/pack-kit/src/http/ssrf.test.ts',
  // Browser connections that delay the shutdown of a server.
  'packages/x/test/callback.test.ts',
  // Newer Node includes SQLite, older Node uses a package.
  'packages/journal/src/store/sqlite/*.test.ts',
  'packages/journal/test/sqlite-{clocks,failures,lost-commits}.test.ts',
  // Child processes, sockets and streams on both ends of the guard.
  'packages/guard/test/{chaos,http-face,http-upstream}.test.ts',
  // Clocks, sockets and child processes of the adapters.
  'packages/llm/test/clocks.test.ts',
  // Processes, signals, the call timeout of some tools; modules that are resolved from another folder.
  'packages/cli/test/{cap,module-packs,serve,up}.test.ts',
];
