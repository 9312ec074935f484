/** The host cannot be created or started with these options. The message is for the operator. */
export class HostError extends Error {
  override readonly name = 'HostError';
}

/** An error in the configuration: its source, its location, and how to fix it. */
export interface ConfigIssue {
  /** The file, environment variable or flag that set the value. */
  readonly origin: string;
  /** A JSON pointer into the configuration (RFC 6901); empty for the root. */
  readonly pointer: string;
  readonly message: string;
}

/** The configuration is invalid. The message lists every issue, and never contains a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[]) {
    super(issues.map(formatIssue).join('\n'));
    this.issues = issues;
  }
}

function formatIssue({ origin, pointer, message }: ConfigIssue): string {
  return pointer === '' ? `${origin}: ${message}` : `${origin}: ${pointer}: ${message}`;
}
