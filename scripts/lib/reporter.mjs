import { writeFileSync } from 'node:fs';

/**
 * @typedef {{ name?: string, message?: string, stack?: string }} TestError
 */

/**
 * The message and the stack of an error. The stack of a timeout begins with a placeholder of vitest in place of
 * the message, and some errors have no stack.
 *
 * @param {TestError} error
 */
export const describeError = ({ name = 'Error', message = '', stack = '' }) => {
  if (stack.includes(message)) return stack;
  const reason = message.replace(/\nIf this is a long-running (test|hook), .*$/s, '');
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return [`${name}: ${reason}`, ...frames].join('\n');
};

/**
 * Writes what the summary of a run reads to the file of `--outputFile`. Vitest's JSON report lacks the reason of
 * a timeout, the errors of hooks and those outside of tests.
 */
export default class Reporter {
  /** @type {import('vitest/node').Vitest | undefined} */
  #vitest;

  /** @param {import('vitest/node').Vitest} vitest */
  onInit(vitest) {
    this.#vitest = vitest;
  }

  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly TestError[]} outside
   */
  onTestRunEnd(modules, outside) {
    const testResults = modules.map((module) => {
      const suites = [...module.children.allSuites()];
      const errors = [module, ...suites].flatMap((suite) => suite.errors());
      return {
        name: module.moduleId,
        status: module.ok() ? 'passed' : 'failed',
        message: errors.map(describeError).join('\n'),
        assertionResults: [...module.children.allTests()].map(resultOf),
      };
    });
    const statuses = testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ status }) => status),
    );
    const count = (/** @type {string} */ wanted) =>
      statuses.filter((status) => status === wanted).length;
    /** @type {import('./summary.mjs').Report} */
    const report = {
      success: testResults.every(({ status }) => status === 'passed'),
      numPassedTests: count('passed'),
      numFailedTests: count('failed'),
      numSkippedTests: statuses.length - count('passed') - count('failed'),
      testResults,
      errors: outside.map(describeError),
    };
    const file = this.#vitest?.config.outputFile;
    if (typeof file !== 'string') throw new Error('The report has no file: pass --outputFile');
    writeFileSync(file, JSON.stringify(report));
  }
}

/** @param {import('vitest/node').TestCase} test */
const resultOf = (test) => {
  const { state, errors = [] } = test.result();
  /** @type {string[]} */
  const ancestorTitles = [];
  for (let { parent } = test; parent.type === 'suite'; parent = parent.parent) {
    ancestorTitles.unshift(parent.name);
  }
  return {
    status: state,
    ancestorTitles,
    title: test.name,
    failureMessages: errors.map(describeError),
  };
};
