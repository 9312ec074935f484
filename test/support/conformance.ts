import { execFile } from 'node:child_process';
import { newerNode } from '../../scripts/lib/newer-node.mjs';

export interface ConformanceRun {
  readonly required: readonly string[];
  /** Required server scenarios that did not pass. */
  readonly failed: readonly string[];
  readonly code: number;
}

/** The conformance suite of MCP for servers. `suite` is its program. */
export const conformance = (suite: string) => {
  const run = (args: readonly string[]): Promise<{ code: number; output: string }> =>
    new Promise((resolve) => {
      execFile(newerNode(), [suite, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error ? 1 : 0;
        resolve({ code, output: stdout + stderr });
      });
    });

  /** The required server scenarios of a revision, from the suite itself. */
  const requiredOf = async (revision: string): Promise<string[]> => {
    const { output } = await run(['list', '--requirements', revision]);
    const [, section = ''] = /Server scenarios[^\n]*\n((?: {2}- [^\n]+\n)+)/.exec(output) ?? [];
    return [...section.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
  };

  return async (url: string, revision: string): Promise<ConformanceRun> => {
    const required = await requiredOf(revision);
    const { code, output } = await run(['server', '--url', url, '--requirements', revision]);
    const passed = [...output.matchAll(/^✓ (\S+): (\d+) passed, 0 failed/gm)]
      .filter(([, , checks]) => Number(checks) > 0)
      .map(([, name = '']) => name);
    return { required, failed: required.filter((name) => !passed.includes(name)), code };
  };
};
