/** One thing that is wrong with the configuration: where it was said, and what to do. */
export interface ConfigIssue {
  /** The file, the environment variable or the flag that said it. */
  readonly origin: string;
  /** A JSON pointer into the configuration (RFC 6901); empty for the whole. */
  readonly pointer: string;
  readonly message: string;
}

/** A configuration that cannot be used. Its message names every mistake, and never a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[]) {
    super(issues.map(line).join('\n'));
    this.issues = issues;
  }
}

function line({ origin, pointer, message }: ConfigIssue): string {
  return pointer === '' ? `${origin}: ${message}` : `${origin}: ${pointer}: ${message}`;
}
