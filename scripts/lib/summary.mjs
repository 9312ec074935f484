import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { inRoot } from './paths.mjs';

/**
 * @typedef {{ status: string, ancestorTitles?: string[], title?: string, failureMessages?: string[] }} TestResult
 * @typedef {{ status: string, name?: string, message?: string, assertionResults: TestResult[] }} FileResult
 * @typedef {{
 *   success: boolean, numPassedTests: number, numFailedTests: number, numSkippedTests: number,
 *   testResults: FileResult[], errors: string[],
 * }} Report what `reporter.mjs` writes; the errors are those outside of any test
 * @typedef {{ passed: number, failed: number, skipped: number }} Summary
 */

/**
 * Counts a run so that a failed run never looks successful: a file that could not be loaded, an error outside
 * any test and a run without a report each count as one failure.
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
    skipped: report.numSkippedTests,
  };
};

/**
 * The sum of several runs.
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

const MAX_FAILURES = 20;
const MAX_LINES = 12;

/** @param {string} message */
const shorten = (message) => {
  const lines = stripVTControlCharacters(message).split('\n');
  const kept = lines.slice(0, MAX_LINES).map((line) => `    ${line}`.trimEnd());
  return lines.length > MAX_LINES ? [...kept, '    …'] : kept;
};

/**
 * The failures with their messages. They are printed last, because the end of a long log is what readers see.
 *
 * @param {Report | undefined} report
 * @returns {string[]} one string for each failure
 */
export const formatFailures = (report) => {
  const found = (report?.testResults ?? []).flatMap((file) => {
    const name = relative(inRoot(), file.name ?? '');
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0) {
      return file.status === 'failed' ? [[`✗ ${name}`, ...shorten(file.message ?? '')]] : [];
    }
    return failed.map(({ ancestorTitles = [], title = '', failureMessages = [] }) => [
      `✗ ${[name, ...ancestorTitles, title].join(' › ')}`,
      ...shorten(failureMessages[0] ?? ''),
    ]);
  });
  for (const error of report?.errors ?? [])
    found.push(['✗ outside of the tests', ...shorten(error)]);
  const shown = found.slice(0, MAX_FAILURES).map((lines) => lines.join('\n'));
  const more = found.length - shown.length;
  return more > 0 ? [...shown, `✗ and ${more} more`] : shown;
};
