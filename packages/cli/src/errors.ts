/** What was asked cannot be meant. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** How a command ended, when it did not end well. */
interface Failure {
  readonly exitCode: 1 | 2;
  readonly message: string;
}

/** Errors whose message is written for whoever typed the command. By name: packages have their own. */
const FOR_PEOPLE: Readonly<Record<string, Failure['exitCode']>> = {
  UsageError: 2,
  ConfigError: 2,
  HostError: 1,
  JournalError: 1,
  LoginError: 1,
};

const AT_ADDRESS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'Something else listens there, perhaps another toolkeel. Stop it, or choose another port: --port 0 takes one that is free.',
  EACCES: 'Ports below 1024 need special rights: choose a higher one.',
  EADDRNOTAVAIL:
    'This machine does not have that address: choose one that it has, such as 127.0.0.1.',
  ENOTFOUND: 'That name leads to no address: choose one of this machine, such as 127.0.0.1.',
};

/** One readable message. A stack only for those who asked for it. */
export function describeFailure(thrown: unknown, isVerbose: boolean): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const advice = AT_ADDRESS[codeOf(error) ?? codeOf(error.cause) ?? ''];
  const exitCode = FOR_PEOPLE[error.name] ?? (advice === undefined ? undefined : 1);
  const stack = isVerbose ? `\n${error.stack ?? ''}` : '';
  if (exitCode === undefined) {
    const hint = isVerbose ? '' : '\nRun it again with --verbose to see where.';
    return { exitCode: 1, message: `This was not foreseen: ${error.message}${hint}${stack}` };
  }
  const lines = [...introduction(error), error.message, ...(advice === undefined ? [] : [advice])];
  return { exitCode, message: `${lines.join('\n')}${stack}` };
}

function introduction({ name, message }: Error): readonly string[] {
  return name === 'ConfigError' && message.includes('\n')
    ? ['The configuration cannot be used:']
    : [];
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
}
