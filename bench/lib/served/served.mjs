import { withProgress } from '../../../scripts/lib/progress.mjs';
import { digits, withSpread } from '../format.mjs';
import { measureCalls } from './call-cost.mjs';
import { measureHttp } from './http-rate.mjs';
import { measureStarts } from './start-time.mjs';

/**
 * @typedef {import('../nodes.mjs').Runtime} Runtime
 * @typedef {import('../packages.mjs').Line} Line
 * @typedef {object} Served the cost of a server, by Node line
 * @property {Partial<Record<Line, import('./call-cost.mjs').CallCost>>} calls
 * @property {Partial<Record<Line, import('./http-rate.mjs').HttpRate>>} http
 * @property {Partial<Record<Line, import('./start-time.mjs').StartTime>>} starts
 * @typedef {{ calls: boolean, http: boolean, starts: boolean }} Wanted
 */

export const servedNames = {
  calls: 'served: a trivial tool over stdio, our host and the bare SDK',
  http: 'served: a trivial tool over HTTP, our host, the bare SDK and a plain endpoint',
  starts: 'served: start to the first tools/list, toolkeel serve stac and server-everything',
};

export const servedRounds = { calls: 7, http: 5, starts: 21 };

/**
 * @param {readonly Runtime[]} runtimes
 * @param {Wanted} wanted
 * @param {boolean} quick
 * @returns {Promise<Served>}
 */
export const measureServed = async (runtimes, wanted, quick) => {
  /** @type {Served} */
  const served = { calls: {}, http: {}, starts: {} };
  let label = 'servers';
  const rounds = quick ? { calls: 1, http: 1, starts: 5 } : servedRounds;
  const showProgress =
    (/** @type {string} */ what, /** @type {Line} */ line, /** @type {number} */ of) =>
    (/** @type {number} */ done) => {
      label = `${what} on Node ${line}, ${done} of ${of} done`;
    };
  await withProgress(
    () => label,
    async () => {
      for (const { line, path } of runtimes) {
        if (wanted.calls)
          served.calls[line] = await measureCalls(
            path,
            rounds.calls,
            showProgress('calls over stdio', line, rounds.calls),
          );
        if (wanted.http)
          served.http[line] = await measureHttp(
            path,
            rounds.http,
            showProgress('calls over HTTP', line, rounds.http),
          );
        if (wanted.starts)
          served.starts[line] = await measureStarts(
            path,
            rounds.starts,
            showProgress('starts', line, rounds.starts),
          );
      }
    },
  );
  return served;
};

/**
 * @param {Served} served
 * @returns {import('../format.mjs').Table}
 */
export const servedTable = ({ calls, http, starts }) => ({
  head: ['a server', 'Toolkeel', 'the other', 'ratio'],
  rows: [
    ...Object.entries(calls).flatMap(([line, { oursUs, bareUs, ratio, noise }]) => [
      [
        `Node ${line}: a trivial tool, the bare SDK, p50 in µs`,
        withSpread(oursUs),
        withSpread(bareUs),
        withSpread(ratio),
      ],
      [`Node ${line}: … the bare SDK against itself`, '–', '–', withSpread(noise)],
    ]),
    ...Object.entries(http).flatMap(([line, { ours, bare, plain, ratio }]) => [
      [
        `Node ${line}: calls a second over HTTP, the bare SDK, 16 in flight`,
        withSpread(ours),
        withSpread(bare),
        withSpread(ratio),
      ],
      [
        `Node ${line}: … a plain hono endpoint with the same validation`,
        '–',
        withSpread(plain),
        digits(ours.median / plain.median),
      ],
    ]),
    ...Object.entries(starts).map(([line, { oursMs, theirsMs, ratio }]) => [
      `Node ${line}: start to the first tools/list, server-everything, ms`,
      withSpread(oursMs),
      withSpread(theirsMs),
      digits(ratio),
    ]),
  ],
});
