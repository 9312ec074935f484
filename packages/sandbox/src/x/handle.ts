import type { Sandbox } from '../sandbox/open.js';
import type { Tier } from './api/call.js';
import type { IssuedTokens, IssueOptions } from './auth/tokens.js';
import type { Clock } from './clock.js';
import type { Commit, CommitQuery } from './commits.js';
import type { Landmarks } from './population/landmarks.js';

/** What a client needs to come in. */
export interface XCredentials {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Of the app alone. */
  readonly bearerToken: string;
  /** Of the user, with every scope. */
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface XControls {
  /** What really happened, in the order in which it happened. */
  readonly commits: (query?: CommitQuery) => Commit[];
  /** The upstream's clock: limits, tokens, lag and the work on media go by it. */
  readonly clock: Clock;
  readonly lag: () => number;
  /** Reads show what is done from now on only after so long. 0 shows all at once. */
  readonly setLag: (ms: number) => void;
  readonly tier: () => Tier;
  readonly setTier: (tier: Tier) => void;
  /** What is left and what was spent, in US dollars. */
  readonly balance: () => { readonly credits: number; readonly spent: number };
  readonly setCredits: (dollars: number) => void;
  /** Tokens for a user, with fewer scopes or a shorter life if asked for. Default: the user. */
  readonly issueTokens: (options?: Partial<IssueOptions>) => IssuedTokens;
  readonly credentials: XCredentials;
  /** Users, posts and lists that tests can go by. */
  readonly landmarks: Landmarks;
}

export interface XSandbox extends Sandbox, XControls {
  /** What stands before /2. */
  readonly url: string;
  /** The page that asks a user, which here agrees at once. */
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** A hash of all users and posts: the same for the same seed and day, until something is posted. */
  readonly digest: () => string;
}
