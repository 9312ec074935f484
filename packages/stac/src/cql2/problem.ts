/** A filter that cannot be read, and where. */
export class FilterProblem extends Error {
  override readonly name = 'FilterProblem';
}
