import { readFileSync } from 'node:fs';
import { median } from '../stats.mjs';

/**
 * @typedef {{ p50Us: number, rate: number, cpuUs: number }} Load p50 of a call, calls a second, CPU time of the
 *   measured process a call
 * @typedef {{ call: (text: string) => Promise<unknown>, pid: number, close: () => Promise<void> }} Subject
 */

const ticksPerSecond = 100;

/**
 * CPU time of a process in microseconds, without its children: the server behind a proxy is the same for all.
 *
 * @param {number} pid
 */
const cpuOf = (pid) => {
  if (process.platform !== 'linux') return Number.NaN;
  // The name of the command is in brackets and may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6;
};

/**
 * Calls with a constant number in flight.
 *
 * @param {Subject} subject
 * @param {number} inFlight
 * @param {number} calls
 */
const run = async ({ call }, inFlight, calls) => {
  /** @type {number[]} */
  const times = [];
  let next = 0;
  const worker = async () => {
    while (next < calls) {
      const text = `hello ${next++}`;
      const started = performance.now();
      await call(text);
      times.push((performance.now() - started) * 1000);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { times, ms: performance.now() - started };
};

/**
 * Loads the subjects in alternating blocks, so that a change in machine speed affects all of them.
 *
 * @template {string} Name
 * @param {Record<Name, Subject>} subjects
 * @param {number} inFlight
 * @param {{ blocks: number, calls: number, warmUp: number }} plan
 * @returns {Promise<Record<Name, Load>>}
 */
export const loadAll = async (subjects, inFlight, { blocks, calls, warmUp }) => {
  const all = /** @type {[Name, Subject][]} */ (Object.entries(subjects)).map(
    ([name, subject]) => ({
      name,
      subject,
      times: /** @type {number[]} */ ([]),
      rates: /** @type {number[]} */ ([]),
      cpuUs: 0,
    }),
  );
  for (const { subject } of all) await run(subject, inFlight, warmUp);
  for (let block = 0; block < blocks; block++)
    for (const one of block % 2 === 0 ? all : all.toReversed()) {
      const before = cpuOf(one.subject.pid);
      const { times, ms } = await run(one.subject, inFlight, calls);
      one.cpuUs += cpuOf(one.subject.pid) - before;
      one.times.push(...times);
      one.rates.push((calls / ms) * 1000);
    }
  return /** @type {Record<Name, Load>} */ (
    Object.fromEntries(
      all.map(({ name, times, rates, cpuUs }) => [
        name,
        { p50Us: median(times), rate: median(rates), cpuUs: cpuUs / (blocks * calls) },
      ]),
    )
  );
};
