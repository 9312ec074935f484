import type { IssuePath } from '../config/issue.js';
import type { Operators } from '../config/types.js';
import { fold } from '../text/fold.js';
import { contradictionIn } from './contradiction.js';
import type { Report } from './node.js';

/** What is wrong with the question itself, whichever tool it is asked of. */
export function checkOperands(asked: Operators, at: IssuePath, report: Report): void {
  const conflict = contradictionIn([asked]);
  if (conflict) report(at, `can never hold: ${conflict}`);
  for (const name of ['contains', 'matches'] as const) {
    const words = asked[name] === undefined ? [] : [asked[name]].flat();
    // Of a space that nobody sees nothing is left, and nothing is found in every text.
    if (words.some((word) => fold(word).trim() === '')) {
      report([...at, name], 'must hold something that can be seen');
    }
  }
  for (const name of ['linkHostIn', 'linkHostNotIn'] as const) {
    for (const [index, host] of (asked[name] ?? []).entries()) {
      if (isHost(host)) continue;
      report([...at, name, index], 'must be a host such as "example.com"; its parts are included');
    }
  }
}

const isHost = (text: string): boolean => /^[\p{L}\p{N}.\-_]+$|^\[[\da-f:.]+\]$/iu.test(text);
