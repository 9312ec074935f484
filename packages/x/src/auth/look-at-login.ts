/** What is known of a login without asking X. */
export interface LoginState {
  readonly username: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Without it the login is over when its token is. */
  readonly isRenewable: boolean;
}

/** The login in a file; undefined if there is none. Throws a `ConfigError` if it cannot be used. */
export async function lookAtLogin(path: string): Promise<LoginState | undefined> {
  const { readLogin } = await import('./login-file.js');
  const login = readLogin(path);
  return (
    login && {
      username: login.user?.username,
      expiresAt: login.expires_at,
      isRenewable: login.refresh_token !== undefined,
    }
  );
}
