/** A tool that broke its own contract. Reported to `onUnexpected`, never shown to the caller. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
  readonly tool: string;

  constructor(tool: string, problem: string, options?: ErrorOptions) {
    super(`tool "${tool}" ${problem}`, options);
    this.tool = tool;
  }
}
