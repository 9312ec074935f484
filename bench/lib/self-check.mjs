import { setTimeout as sleep } from 'node:timers/promises';
import { answer, misbehaving } from './callee.mjs';
import { settings } from './settings.mjs';

/**
 * @typedef {import('./case.mjs').Subject} Subject
 * @typedef {() => unknown} Fault creates the error that the callee throws
 */

/** The error of most clients for a broken connection. */
export const reset = () => Object.assign(new Error('connection reset'), { code: 'ECONNRESET' });

/** @param {Subject} subject */
const callOf = ({ call, checked = call }) => checked;

/**
 * @param {unknown} condition
 * @param {string} message
 */
export const expect = (condition, message) => {
  if (!condition) throw new Error(message);
};

/** @param {Subject} subject */
export const answers = async (subject) => {
  const got = await callOf(subject)();
  expect(got === answer, `it answered ${String(got)} instead of ${answer}`);
};

/**
 * As many faults as retries, then an answer: the call must succeed.
 *
 * @param {Subject} subject
 * @param {Fault} [fault]
 */
export const retries = async (subject, fault = reset) => {
  let reached = 0;
  const got = await misbehaving(() => {
    reached += 1;
    if (reached <= settings.retries) throw fault();
    return answer;
  }, callOf(subject));
  expect(got === answer, `it answered ${String(got)} after retries`);
  expect(reached === settings.retries + 1, `it made ${reached} attempts`);
};

/**
 * A callee that never settles and ignores its signal: the call must time out.
 *
 * @param {Subject} subject
 * @param {() => Promise<unknown>} [call] for objects that take the timeout as an argument
 */
export const timesOut = async (subject, call = callOf(subject)) => {
  const started = performance.now();
  let reached = 0;
  const neverEnding = () => {
    reached += 1;
    return new Promise(() => {});
  };
  const end = await misbehaving(neverEnding, () =>
    Promise.race([outcomeOf(call), sleep(settings.timeoutMs * 20, 'nothing', { ref: true })]),
  );
  const took = Math.round(performance.now() - started);
  expect(end === 'error', `a callee that never settles gave ${end} after ${took} ms`);
  expect(reached > 0, 'it timed out without calling');
  expect(took >= settings.timeoutMs * 0.95, `it timed out after only ${took} ms`);
};

/**
 * Faults until a call fails without reaching the callee; then the circuit must close again.
 *
 * @param {Subject} subject
 * @param {Fault} [fault]
 */
export const opensAndCloses = async (subject, fault = reset) => {
  const call = callOf(subject);
  let reached = 0;
  const opened = await misbehaving(
    () => {
      reached += 1;
      throw fault();
    },
    async () => {
      for (let calls = 0; calls < 100; calls++) {
        const before = reached;
        const end = await outcomeOf(call);
        if (end === 'error' && reached === before) return true;
      }
      return false;
    },
  );
  expect(opened, `its circuit is not open after ${reached} consecutive faults`);
  expect(reached >= settings.minimumAttempts / 2, `its circuit opened after ${reached} faults`);

  for (let tries = 0; tries < 20; tries++) {
    await sleep(settings.openMs);
    if ((await outcomeOf(call)) === 'answer') break;
  }
  // More calls than any number of probes: the circuit must be closed.
  for (let calls = 0; calls < 10; calls++) await answers(subject);
};

/** @param {() => Promise<unknown>} call */
const outcomeOf = (call) =>
  call().then(
    () => 'answer',
    () => 'error',
  );
