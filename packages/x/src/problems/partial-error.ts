import { compact, type Doc } from '../json.js';
import type { PartialError } from '../provider/model.js';
import { readPartialProblems, type Problem } from './problem.js';
import { refusalOf } from './refusal.js';

/** What stands in the `errors` of a success, for whoever asked. */
export function partialError(problem: Problem): PartialError {
  return compact({
    reason: problem.type ?? refusalOf(200, problem),
    resource_type: problem.resourceType,
    resource_id: problem.resourceId,
    parameter: problem.parameter,
    message: problem.said,
  });
}

/** All of them, where there are any. */
export function partialErrorsIn(doc: Doc): { readonly partial_errors?: readonly PartialError[] } {
  const problems = readPartialProblems(doc);
  return problems.length === 0 ? {} : { partial_errors: problems.map(partialError) };
}
