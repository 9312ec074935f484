/** A login that did not come about. The message is for the person in front of the terminal. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}
