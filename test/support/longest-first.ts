import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { root } from './workspace.js';

/**
 * The longest suites, which start first. A long suite that starts last leaves the other workers idle. Vitest knows
 * durations only from an earlier run, and a fresh clone has none.
 */
export const longest: readonly string[] = [
  'packages/journal/src/explore/explore-all.test.ts',
  'packages/cli/test/install.test.ts',
  'packages/console/test/pages.test.ts',
  'packages/drill/test/journal-crash.test.ts',
  'packages/drill/test/journal-kill.test.ts',
  'packages/guard/test/misbehaviour.test.ts',
  'packages/cli/test/govern/approvals.test.ts',
  'packages/host/test/conformance.test.ts',
  'packages/cli/test/cap.test.ts',
  'packages/x/test/never-twice/committed.test.ts',
  'packages/x/test/never-twice/refused.test.ts',
  'packages/x/test/workflow.test.ts',
  'packages/guard/test/lifecycle.test.ts',
  'packages/journal/src/explore/explore.test.ts',
  'test/peers.test.ts',
  'packages/guard/test/profiles.test.ts',
  'packages/cli/test/faults.test.ts',
  'packages/cli/test/govern/never-twice.test.ts',
  'packages/drill/src/simulator/objectives.test.ts',
  'packages/drill/test/drill-stac.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(relative(root, moduleId));
      return at < 0 ? longest.length : at;
    };
    const byDuration = super.sort.bind(this);
    return (await byDuration(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
