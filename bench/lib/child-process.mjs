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
 * Runs one case in a fresh process. A self-check that fails may have been starved by a busy machine, so it
 * is made once more; a second failure ends the benchmark.
 *
 * @template T
 * @param {Job} job
 * @returns {Promise<T>}
 */
export const measure = async (job) => {
  const first = await once(job);
  const result = 'complaint' in first ? await once(job) : first;
  if ('complaint' in result)
    throw new Error(
      `The self-check of "${job.id}" failed on Node ${job.runtime.version}: ${result.complaint}.\n` +
        'What does not do its job is not timed.',
    );
  return result;
};

/** @param {Job} job */
const once = async ({ what, id, runtime, batches }) => {
  const { NODE_OPTIONS: _, ...env } = process.env; // whatever it holds, it is not what we measure
  const args = ['--expose-gc', child, what, id, String(runtime.line), String(batches)];
  const { stdout } = await run(runtime.path, args, { env, timeout: 120_000 });
  return JSON.parse(stdout);
};
