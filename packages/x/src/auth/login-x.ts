export interface LoginOptions {
  readonly clientId: string;
  /** The client secret of a confidential app. */
  readonly clientSecret?: string;
  /** The file to save the login in. */
  readonly tokenFile: string;
  /** Receives the URL that the user opens to authorize the app. */
  readonly onUrl: (url: string) => void;
  /** Called when a callback has the state of another login. This login continues to wait. */
  readonly onStateMismatch?: () => void;
  readonly scopes?: readonly string[];
  readonly baseUrl?: string;
  readonly authorizeUrl?: string;
  /** Fixed by default, because X requires a registered redirect URL. */
  readonly port?: number;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface LoginResult {
  readonly username: string | undefined;
  readonly userId: string | undefined;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
}

/** The scopes that the tools of this pack require. */
export const defaultScopes: readonly string[] = Object.freeze([
  'tweet.read',
  'tweet.write',
  'users.read',
  'follows.read',
  'follows.write',
  'like.read',
  'like.write',
  'list.read',
  'bookmark.read',
  'bookmark.write',
  'media.write',
  'offline.access',
]);

export const DEFAULT_REDIRECT_PORT = 7412;

/** Lets the user authorize the app, and saves the tokens without showing them. */
export async function loginX(options: LoginOptions): Promise<LoginResult> {
  const { login } = await import('./login.js');
  return login(options);
}

/** A failed login. The message is for the user at the terminal. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}
