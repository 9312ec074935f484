import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * @typedef {import('./nodes.mjs').Runtime} Runtime
 * @typedef {{ what: 'time' | 'heap', id: string, runtime: Runtime, batches: number }} Job
 */

const child = fileURLToPath(new URL('child.mjs', import.meta.url));
const run = promisify(execFile);

/**
 * Measures one case in a new process. A self-check may fail on a busy machine, so it is repeated once; a
 * second failure ends the benchmark.
 *
 * @template T
 * @param {Job} job
 * @returns {Promise<T>}
 */
export const measure = async (job) => {
  const first = await once(job);
  const result = 'failure' in first ? await once(job) : first;
  if ('failure' in result)
    throw new Error(
      `The self-check of "${job.id}" failed on Node ${job.runtime.version}: ${result.failure}.\n` +
        'The case is not timed.',
    );
  return result;
};

/** @param {Job} job */
const once = async ({ what, id, runtime, batches }) => {
  const { NODE_OPTIONS: _, ...env } = process.env; // must not affect the measurement
  const args = ['--expose-gc', child, what, id, String(runtime.line), String(batches)];
  const { stdout } = await run(runtime.path, args, { env, timeout: 120_000 });
  return JSON.parse(stdout);
};
