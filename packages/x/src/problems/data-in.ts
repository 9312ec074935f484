import { docOf, type Doc } from '../json.js';
import { readPartialProblems } from './problem.js';
import { faultOfMissing, unreadable } from './upstream-problem.js';

/** The `data` of a success. Where only `errors` came, they say why. */
export function dataIn(doc: Doc, is: 'needed' | 'optional'): Doc {
  const data = docOf(doc['data']);
  if (data) return data;
  const [problem] = readPartialProblems(doc);
  if (problem) throw faultOfMissing(problem);
  if (is === 'needed') throw unreadable();
  return {};
}
