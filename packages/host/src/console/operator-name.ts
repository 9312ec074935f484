import { userInfo } from 'node:os';

/** What a person may be called in the audit. */
export const OPERATOR_NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u;

/** The name of the account that runs this process. */
export function defaultName(): string {
  try {
    const { username } = userInfo();
    return OPERATOR_NAME.test(username) ? username : 'operator';
  } catch {
    return 'operator';
  }
}
