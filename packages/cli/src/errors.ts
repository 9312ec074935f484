/** Invalid command line. The message says what to use instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The exit codes of a command that Ctrl-C or SIGTERM ended, as the shell reports them. */
export const INTERRUPTED = 130;
export const TERMINATED = 143;

interface Failure {
  readonly exitCode: 1 | 2;
  readonly message: string;
}

/** Errors with a message for the operator. Matched by name, because each package has its own classes. */
const OPERATOR_ERRORS: Readonly<Record<string, Failure['exitCode']>> = {
  UsageError: 2,
  ConfigError: 2,
  HostError: 1,
  JournalError: 1,
  LoginError: 1,
};

const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'Another process is listening there. Stop it, or choose another port: --port 0 selects a free one.',
  EACCES: 'Ports below 1024 require privileges. Choose a higher port.',
  EADDRNOTAVAIL:
    'This machine does not have that address. Choose a local address such as 127.0.0.1.',
  ENOTFOUND: 'The host name cannot be resolved. Choose a local address such as 127.0.0.1.',
};

const PERMISSIONS = 'Check the permissions of the file and its folder.';
const FILE_ADVICE: Readonly<Record<string, string>> = {
  EACCES: PERMISSIONS,
  EPERM: PERMISSIONS,
  EROFS: 'The file system is read-only.',
};

/** The message for the operator, with a stack in verbose mode. */
export function describeFailure(thrown: unknown, isVerbose: boolean): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = codeOf(error) ?? codeOf(error.cause) ?? '';
  const isOfFile = [error, error.cause].some((cause) => cause instanceof Error && 'path' in cause);
  const advice = (isOfFile ? FILE_ADVICE : LISTEN_ADVICE)[code];
  const exitCode = OPERATOR_ERRORS[error.name] ?? (advice === undefined ? undefined : 1);
  const stack = isVerbose ? `\n${error.stack ?? ''}` : '';
  if (exitCode === undefined) {
    const hint = isVerbose ? '' : '\nRun the command again with --verbose for the stack trace.';
    return { exitCode: 1, message: `Unexpected error: ${error.message}${hint}${stack}` };
  }
  const lines = [...introduction(error), error.message, ...(advice === undefined ? [] : [advice])];
  return { exitCode, message: `${lines.join('\n')}${stack}` };
}

function introduction({ name, message }: Error): readonly string[] {
  return name === 'ConfigError' && message.includes('\n') ? ['The configuration is invalid:'] : [];
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
}
