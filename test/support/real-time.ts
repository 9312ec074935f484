// Suites follow each other in one process. One that leaves time replaced would let the next one wait
// for ever, with the timer that should end it.
const kept = Symbol.for('toolkeel.test.setTimeout');
const shared = globalThis as unknown as Record<symbol, typeof setTimeout | undefined>;
const real = (shared[kept] ??= setTimeout);

if (setTimeout !== real) {
  globalThis.setTimeout = real;
  throw new Error('a suite before this one has left its own setTimeout behind');
}
