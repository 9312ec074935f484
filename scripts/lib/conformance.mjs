import { execFile } from 'node:child_process';
import { newerNode } from './newer-node.mjs';

/**
 * @typedef {object} ConformanceRun
 * @property {readonly string[]} required
 * @property {readonly string[]} failed required server scenarios that did not pass
 * @property {number} code
 */

/**
 * The conformance suite of MCP for servers.
 *
 * @param {string} suite its program
 */
export const conformance = (suite) => {
  /**
   * @param {readonly string[]} args
   * @returns {Promise<{ code: number, output: string }>}
   */
  const run = (args) =>
    new Promise((resolve) => {
      execFile(newerNode(), [suite, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error ? 1 : 0;
        resolve({ code, output: stdout + stderr });
      });
    });

  /**
   * The required server scenarios of a revision, from the suite itself.
   *
   * @param {string} revision
   */
  const requiredOf = async (revision) => {
    const { output } = await run(['list', '--requirements', revision]);
    const [, section = ''] = /Server scenarios[^\n]*\n((?: {2}- [^\n]+\n)+)/.exec(output) ?? [];
    return [...section.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
  };

  /**
   * @param {string} url
   * @param {string} revision
   * @returns {Promise<ConformanceRun>}
   */
  return async (url, revision) => {
    const required = await requiredOf(revision);
    const { code, output } = await run(['server', '--url', url, '--requirements', revision]);
    const passed = [...output.matchAll(/^✓ (\S+): (\d+) passed, 0 failed/gm)]
      .filter(([, , checks]) => Number(checks) > 0)
      .map(([, name = '']) => name);
    return { required, failed: required.filter((name) => !passed.includes(name)), code };
  };
};
