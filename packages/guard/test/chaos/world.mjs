/**
 * What the chaos server has done, on disk: a SIGKILL loses none of it, and every process of the same folder sees it.
 *
 * - `starts.log`: one line for each process
 * - `calls.log`: one line for each `tools/call` that arrived
 * - `effects.log`: one line for each effect that was performed
 *
 * @module
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (file) =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : [];

export const openWorld = (dir) => {
  mkdirSync(dir, { recursive: true });
  const [starts, calls, effects] = ['starts', 'calls', 'effects'].map((name) =>
    join(dir, `${name}.log`),
  );
  const append = (file, entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`);
  const arrivals = (key) => read(calls).filter((call) => call.key === key).length;
  return {
    start: (detail) => {
      append(starts, { pid: process.pid, ...detail });
      return read(starts).length;
    },
    arrive: (tool, key) => append(calls, { tool, key, pid: process.pid }),
    arrivals,
    perform: (tool, key) => append(effects, { tool, key, pid: process.pid }),
    effectsOf: (key) => read(effects).filter((effect) => effect.key === key).length,
  };
};
