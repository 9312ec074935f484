export interface LoginOptions {
  readonly clientId: string;
  /** Of a confidential app. */
  readonly clientSecret?: string;
  /** Where the login is kept. */
  readonly tokenFile: string;
  /** Shown to the person, who opens it and allows what the app asks for. */
  readonly onUrl: (url: string) => void;
  /** A browser came back from another login than this one, which goes on waiting. */
  readonly onStranger?: () => void;
  readonly scopes?: readonly string[];
  readonly baseUrl?: string;
  readonly authorizeUrl?: string;
  /** X wants the address of the redirect to be registered, so the port is fixed. */
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

/** Everything that the tools of this pack can do. */
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

/** Lets a person allow the app to act, and keeps what X gives for it. No token is shown to anybody. */
export async function loginX(options: LoginOptions): Promise<LoginResult> {
  const { login } = await import('./login.js');
  return login(options);
}
