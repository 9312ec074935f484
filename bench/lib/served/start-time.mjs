import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inRoot } from '../../../scripts/lib/paths.mjs';
import { stage } from '../../../scripts/lib/stage.mjs';
import { median, spread } from '../stats.mjs';
import { openServer } from './line-client.mjs';

/**
 * @typedef {import('../stats.mjs').Spread} Spread
 * @typedef {{ oursMs: Spread, theirsMs: Spread, ratio: number }} StartTime
 */

/** Inside the repository, so that dependencies resolve from its node_modules. */
const staged = inRoot('.cache', 'start', 'node_modules');

const commands = {
  ours: [join(staged, 'toolkeel', 'dist', 'bin.js'), 'serve', 'stac'],
  theirs: [
    fileURLToPath(
      new URL(
        '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
        import.meta.url,
      ),
    ),
    'stdio',
  ],
};

/**
 * The time from the start of the process to the answer of its first `tools/list`.
 *
 * @param {string} node
 * @param {readonly string[]} command
 * @param {string} dir
 */
const timeStart = async (node, command, dir) => {
  const started = performance.now();
  // In a temporary directory: neither reads nor changes the user's configuration.
  const server = await openServer(node, command, { cwd: dir, env: { TOOLKEEL_DATA_DIR: dir } });
  const { result } = await server.ask('tools/list', {});
  const ms = performance.now() - started;
  await server.close();
  if (!(result?.tools?.length > 0)) throw new Error(`${command.join(' ')} has no tools`);
  return ms;
};

/**
 * Alternating starts, after one uncounted start of each that warms the disk cache. Uses the published layout of
 * our package.
 *
 * @param {string} node
 * @param {number} starts
 * @param {(done: number) => void} onStart
 * @returns {Promise<StartTime>}
 */
export const measureStarts = async (node, starts, onStart) => {
  await stage(staged);
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-bench-'));
  try {
    const ours = [];
    const theirs = [];
    for (let done = -1; done < starts; done++) {
      onStart(Math.max(0, done));
      const isOurTurn = done % 2 === 0;
      const first = await timeStart(node, isOurTurn ? commands.ours : commands.theirs, dir);
      const second = await timeStart(node, isOurTurn ? commands.theirs : commands.ours, dir);
      if (done < 0) continue;
      ours.push(isOurTurn ? first : second);
      theirs.push(isOurTurn ? second : first);
    }
    const ratio = median(ours) / median(theirs);
    return { oursMs: spread(ours), theirsMs: spread(theirs), ratio };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
