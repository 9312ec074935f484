/** What was asked cannot be meant. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
