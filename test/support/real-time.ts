// Suites share a process. A suite that does not restore setTimeout would make the next one hang without a
// working timeout.
const kept = Symbol.for('toolkeel.test.setTimeout');
const shared = globalThis as unknown as Record<symbol, typeof setTimeout | undefined>;
const real = (shared[kept] ??= setTimeout);

if (setTimeout !== real) {
  globalThis.setTimeout = real;
  throw new Error('an earlier suite did not restore setTimeout');
}
