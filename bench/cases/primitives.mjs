import { bare } from '../lib/callee.mjs';
import { answers } from '../lib/self-check.mjs';

/**
 * @param {string} name
 * @param {(callee: import('../lib/case.mjs').Call) => import('../lib/case.mjs').Call} callOf
 * @returns {import('../lib/case.mjs').Case}
 */
const primitive = (name, callOf) => ({
  name,
  make: ({ callee }) => ({ call: callOf(callee) }),
  selfCheck: answers,
});

export const cases = {
  bare: primitive('the bare await, measured again', () => bare),
  'async-frame': primitive('one more async function', (callee) => async () => await callee()),
  clock: primitive('two readings of performance.now', (callee) => async () => {
    const started = performance.now();
    const value = await callee();
    const took = performance.now() - started;
    return took < 0 ? undefined : value;
  }),
  timer: primitive('setTimeout and clearTimeout', (callee) => async () => {
    const timer = setTimeout(() => {}, 10_000);
    const value = await callee();
    clearTimeout(timer);
    return value;
  }),
  race: primitive(
    'Promise.race with a promise that never settles',
    (callee) => () => Promise.race([callee(), new Promise(() => {})]),
  ),
  'abort-controller': primitive('an AbortController whose signal is read', (callee) => async () => {
    const { signal } = new AbortController();
    const value = await callee();
    return signal.aborted ? undefined : value;
  }),
  'abort-timeout': primitive('AbortSignal.timeout', (callee) => async () => {
    const signal = AbortSignal.timeout(10_000);
    const value = await callee();
    return signal.aborted ? undefined : value;
  }),
  abort: primitive('an AbortController that is aborted on return', (callee) => async () => {
    const controller = new AbortController();
    const value = await callee();
    controller.abort();
    return value;
  }),
};
