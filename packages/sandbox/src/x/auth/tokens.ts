import { randomOf } from '../../random.js';
import type { Clock } from '../../server/clock.js';

/** The authenticated caller of a request. */
export type Caller =
  | { readonly kind: 'app'; readonly clientId: string }
  | {
      readonly kind: 'user';
      readonly clientId: string;
      readonly userId: string;
      readonly scopes: readonly OAuthScope[];
    };

export interface IssueOptions {
  readonly userId: string;
  /** Default: all. */
  readonly scopes?: readonly OAuthScope[];
  /** The lifetime of the access token. */
  readonly lifetimeMs?: number;
}

export interface IssuedTokens {
  readonly accessToken: string;
  /** Only with the scope `offline.access`. */
  readonly refreshToken?: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly OAuthScope[];
}

interface TokenOptions {
  readonly seed: number;
  readonly clientId: string;
  readonly accessLifetimeMs: number;
  readonly refreshLifetimeMs: number;
}

export type Tokens = ReturnType<typeof createTokens>;

interface Kept<Holder> {
  readonly holder: Holder;
  readonly until: number;
}

export function createTokens(clock: Clock, options: TokenOptions) {
  const { seed, clientId } = options;
  const access = new Map<string, Kept<Caller>>();
  const refreshes = new Map<string, Kept<{ userId: string; scopes: readonly OAuthScope[] }>>();
  let created = 0;
  const opaque = (what: string): string => {
    created += 1;
    const random = randomOf(seed, 'token', what, created);
    const bytes = Uint8Array.from({ length: 30 }, () => Math.floor(random() * 256));
    return Buffer.from(`${Buffer.from(bytes).toString('base64url')}:1:1:${what}:1`).toString(
      'base64url',
    );
  };
  const valid = <Holder>(from: Map<string, Kept<Holder>>, token: string): Holder | undefined => {
    const kept = from.get(token);
    return kept && kept.until > clock.now() ? kept.holder : undefined;
  };

  const issue = (given: IssueOptions): IssuedTokens => {
    const { userId, scopes = allScopes, lifetimeMs = options.accessLifetimeMs } = given;
    const accessToken = opaque('at');
    access.set(accessToken, {
      holder: { kind: 'user', clientId, userId, scopes },
      until: clock.now() + lifetimeMs,
    });
    const issued = { accessToken, expiresInSeconds: Math.floor(lifetimeMs / 1000), scopes };
    if (!scopes.includes('offline.access')) return issued;
    const refreshToken = opaque('rt');
    refreshes.set(refreshToken, {
      holder: { userId, scopes },
      until: clock.now() + options.refreshLifetimeMs,
    });
    return { ...issued, refreshToken };
  };

  return {
    issue,
    /** A refresh token can be used once. */
    refresh: (refreshToken: string) => {
      const holder = valid(refreshes, refreshToken);
      refreshes.delete(refreshToken);
      // Refreshed tokens have the default lifetime.
      return (
        holder && {
          ...issue({ userId: holder.userId, scopes: holder.scopes }),
          userId: holder.userId,
        }
      );
    },
    issueForApp: (): string => {
      const token = `AAAAAAAAAAAAAAAAAAAAA${opaque('app')}`;
      access.set(token, { holder: { kind: 'app', clientId }, until: Infinity });
      return token;
    },
    callerOf: (token: string) => valid(access, token),
  };
}

/** The OAuth scopes of X. */
export const allScopes = [
  'tweet.read',
  'tweet.write',
  'tweet.moderate.write',
  'users.read',
  'users.email',
  'follows.read',
  'follows.write',
  'offline.access',
  'space.read',
  'mute.read',
  'mute.write',
  'like.read',
  'like.write',
  'list.read',
  'list.write',
  'block.read',
  'block.write',
  'bookmark.read',
  'bookmark.write',
  'dm.read',
  'dm.write',
  'media.write',
  'timeline.read',
] as const;

export type OAuthScope = (typeof allScopes)[number];

export function isOAuthScope(text: string): text is OAuthScope {
  return allScopes.some((scope) => scope === text);
}
