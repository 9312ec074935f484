// Measures one case in this process: `node child.mjs time|heap <case> <line> <batches>` writes one line of JSON.
import { bare, callee } from './callee.mjs';
import { loadCase } from './case.mjs';
import { heapPerInstance } from './heap.mjs';
import { packagesFor } from './packages.mjs';
import { time } from './time.mjs';

const [what, id = '', line, batches] = process.argv.slice(2);
const { make, selfCheck } = await loadCase(id);
const context = {
  callee,
  packageFor: packagesFor(/** @type {import('./packages.mjs').Line} */ (Number(line))),
};

/** @param {import('./case.mjs').Subject} subject */
const checked = async (subject) => {
  try {
    await selfCheck(subject);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
};

const subject = await make(context);
const failure = await checked(subject);
const result =
  failure !== undefined
    ? { failure }
    : what === 'heap'
      ? { bytes: await heapPerInstance(() => make(context)) }
      : await time(bare, subject.call, Number(batches));

// Some cases keep timers running, so the process exits explicitly after its output was written.
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
