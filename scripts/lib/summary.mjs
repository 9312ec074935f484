/**
 * @typedef {{ status: string, ancestorTitles?: string[], title?: string, failureMessages?: string[] }} TestResult
 * @typedef {{ status: string, name?: string, message?: string, assertionResults: TestResult[] }} FileResult
 * @typedef {{
 *   success: boolean, numPassedTests: number, numFailedTests: number, numPendingTests: number,
 *   numTodoTests: number, testResults: FileResult[],
 * }} Report what vitest's JSON reporter writes, as far as we read it
 * @typedef {{ passed: number, failed: number, skipped: number }} Summary
 */

/**
 * Counts a run so that a red one never reads as green: a file that could not be loaded, an error outside of
 * any test and a run that left no report each count as one failure.
 *
 * @param {Report | undefined} report
 * @param {number} exitCode
 * @returns {Summary}
 */
export const summarise = (report, exitCode) => {
  if (!report) return { passed: 0, failed: 1, skipped: 0 };
  if (report.testResults.length === 0) return { passed: 0, failed: 0, skipped: 0 };
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + unloaded;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && (exitCode !== 0 || !report.success) ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
};

/**
 * Several runs as one.
 *
 * @param {readonly Summary[]} summaries
 * @returns {Summary}
 */
export const total = (summaries) => {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of summaries) {
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
  }
  return sum;
};

/** @param {Summary} summary */
export const summaryLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
