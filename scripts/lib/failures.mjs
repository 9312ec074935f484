import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { inRoot } from './paths.mjs';

const MOST_FAILURES = 20;
const MOST_LINES = 12;

/** @param {string} message */
const shortened = (message) => {
  const lines = stripVTControlCharacters(message).split('\n');
  const kept = lines.slice(0, MOST_LINES).map((line) => `    ${line}`.trimEnd());
  return lines.length > MOST_LINES ? [...kept, '    …'] : kept;
};

/**
 * What failed and why, to be said last: the end of a long log is what people and machines keep of it.
 *
 * @param {import('./summary.mjs').Report | undefined} report
 * @returns {string[]} one text a failure
 */
export const failuresOf = (report) => {
  const found = (report?.testResults ?? []).flatMap((file) => {
    const name = relative(inRoot(), file.name ?? '');
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0) {
      return file.status === 'failed' ? [[`✗ ${name}`, ...shortened(file.message ?? '')]] : [];
    }
    return failed.map(({ ancestorTitles = [], title = '', failureMessages = [] }) => [
      `✗ ${[name, ...ancestorTitles, title].join(' › ')}`,
      ...shortened(failureMessages[0] ?? ''),
    ]);
  });
  const said = found.slice(0, MOST_FAILURES).map((lines) => lines.join('\n'));
  const more = found.length - said.length;
  return more > 0 ? [...said, `✗ and ${more} more`] : said;
};
