import { checked, UsageError } from '../faults/rules.js';
import {
  openSandbox,
  type CommonOptions,
  type ExtraControl,
  type Sandbox,
} from '../server/sandbox.js';
import type { Tier, XState } from './api/call.js';
import { createDuplicateWindow } from './api/create-post.js';
import { createCodes } from './auth/oauth.js';
import { allScopes, createTokens, type IssuedTokens, type IssueOptions } from './auth/tokens.js';
import { type Clock, createClock } from '../server/clock.js';
import { commitQuery, createCommits } from '../server/commit-log.js';
import type { Act, Commit, CommitQuery } from './commits.js';
import { xUpstream } from './upstream.js';
import {
  createAccount,
  createWindows,
  documentedLimits,
  type LimitedRoute,
  type Limits,
} from './limits.js';
import { createUploads } from './uploads.js';
import { digestOf, type NamedRecords, populatedWorld } from './population/populate.js';
import * as z from 'zod';

const HALF_A_YEAR = 182 * 24 * 60 * 60;

/** Starts the X API on loopback, with synthetic users and posts and fault injection. */
export async function startXSandbox(options: XSandboxOptions = {}): Promise<XSandbox> {
  const { seed = 1, clientId = 'toolkeel-sandbox', clientSecret } = options;
  const clock = createClock(options.startAt);
  const { world, landmarks } = populatedWorld(clock, seed);
  world.visibility.setLag(checkedMs('lagMs', options.lagMs ?? 0));
  const commits = createCommits<Act>();
  const account = createAccount(options.credits);
  const limits: Readonly<Record<string, Limits>> = { ...documentedLimits, ...options.limits };
  const windows = createWindows(clock, (route) => limits[route] ?? {});
  const tokens = createTokens(clock, {
    seed,
    clientId,
    accessLifetimeMs: (options.accessTokenLifetimeSeconds ?? 7200) * 1000,
    refreshLifetimeMs: (options.refreshTokenLifetimeSeconds ?? HALF_A_YEAR) * 1000,
  });
  const codes = createCodes(clock, seed);
  let tier: Tier = options.tier ?? 'self_serve';
  const names = { clientId, accountId: '1846' };

  const state: XState = {
    world,
    commits,
    tokens,
    windows,
    account,
    names,
    tier: () => tier,
    duplicates: createDuplicateWindow(clock, options.duplicateWindowMs ?? 24 * 60 * 60_000),
    uploads: createUploads(clock, {
      processingMs: options.mediaProcessingMs ?? 2000,
      checkAfterSecs: options.mediaCheckAfterSeconds ?? 1,
    }),
    maxPostLength: options.maxPostLength ?? 280,
  };
  const app = {
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    userId: landmarks.me.id,
    refusedRefresh: options.refusedRefresh ?? 'invalid_grant',
  } as const;

  const { accessToken, refreshToken = '' } = tokens.issue({ userId: landmarks.me.id });
  const controls: XControls = {
    commits: commits.entries,
    clock: { now: clock.now, advance: (ms) => clock.advance(checkedMs('the time to advance', ms)) },
    lag: world.visibility.lag,
    setLag: (ms) => world.visibility.setLag(checkedMs('the lag', ms)),
    tier: () => tier,
    setTier: (given) => {
      tier = given;
    },
    balance: () => ({ credits: account.credits(), spent: account.spent() }),
    setCredits: account.setCredits,
    issueTokens: (given = {}) => tokens.issue({ userId: landmarks.me.id, ...given }),
    credentials: {
      clientId,
      ...(clientSecret !== undefined && { clientSecret }),
      bearerToken: tokens.issueForApp(),
      accessToken,
      refreshToken,
    },
    landmarks,
  };
  const extraControl = xControl(controls);
  const ports = { api: options.port ?? 0 };
  const { origins, ...sandbox } = await openSandbox({ ...options, seed, ports, extraControl }, () =>
    xUpstream(state, { app, tokens, codes }),
  );
  const url = origins['api'] ?? '';
  return {
    ...sandbox,
    ...controls,
    url,
    authorizeUrl: `${url}/i/oauth2/authorize`,
    tokenUrl: `${url}/2/oauth2/token`,
    digest: () => digestOf(world),
  };
}

function checkedMs(what: string, ms: number): number {
  if (!(ms >= 0 && Number.isFinite(ms)))
    throw new UsageError(`${what} must be zero or more milliseconds, not ${ms}`);
  return ms;
}

/** The credentials of a client. */
export interface XCredentials {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The app-only token. */
  readonly bearerToken: string;
  /** The user's token, with all scopes. */
  readonly accessToken: string;
  readonly refreshToken: string;
}

interface XControls {
  /** The ground truth: all state changes, in order. */
  readonly commits: (query?: CommitQuery) => Commit[];
  /** The upstream's clock, which drives rate limits, tokens, lag and media processing. */
  readonly clock: Clock;
  readonly lag: () => number;
  /** Delays the visibility of later writes to reads. 0 makes them visible at once. */
  readonly setLag: (ms: number) => void;
  readonly tier: () => Tier;
  readonly setTier: (tier: Tier) => void;
  /** The remaining and the spent credits, in US dollars. */
  readonly balance: () => { readonly credits: number; readonly spent: number };
  readonly setCredits: (dollars: number) => void;
  /** Issues tokens for a user. Default: `me`, all scopes, the default lifetime. */
  readonly issueTokens: (options?: Partial<IssueOptions>) => IssuedTokens;
  readonly credentials: XCredentials;
  /** Users, posts and lists with known properties. */
  readonly landmarks: NamedRecords;
}

export interface XSandbox extends Sandbox, XControls {
  /** The base URL, without `/2`. */
  readonly url: string;
  /** The consent page, which consents at once. */
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** A hash of all users and posts, equal for equal seeds and days until a post is created. */
  readonly digest: () => string;
}

export interface XSandboxOptions extends CommonOptions {
  /** The start of the upstream's clock, in milliseconds since 1970. Default: now. */
  readonly startAt?: number;
  /** The app's access tier. Default: self_serve. */
  readonly tier?: Tier;
  /** The app that tokens are issued to. Default: a public client. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Default: 7200. */
  readonly accessTokenLifetimeSeconds?: number;
  /** Default: half a year. */
  readonly refreshTokenLifetimeSeconds?: number;
  /** The error for a used refresh token. X has been observed to return `invalid_request`. */
  readonly refusedRefresh?: 'invalid_grant' | 'invalid_request';
  /** Overrides of the documented rate limits. */
  readonly limits?: Partial<Readonly<Record<LimitedRoute, Limits>>>;
  /** The account's credits in US dollars. Default: unlimited. */
  readonly credits?: number;
  /** How long an equal post is rejected as a duplicate; 0 disables it. Default: a day. */
  readonly duplicateWindowMs?: number;
  /** The maximum weighted length of a post. Default: 280. */
  readonly maxPostLength?: number;
  /** How far reads lag behind writes. Default: 0. */
  readonly lagMs?: number;
  /** The processing time of a video. Default: 2000. */
  readonly mediaProcessingMs?: number;
  /** The value of `check_after_secs`. Default: 1. */
  readonly mediaCheckAfterSeconds?: number;
}

const milliseconds = z.number().min(0);
const clockSchema = z.strictObject({ advanceMs: milliseconds });
const lagSchema = z.strictObject({ lagMs: milliseconds });
const tierSchema = z.strictObject({ tier: z.enum(['self_serve', 'enterprise']) });
const creditsSchema = z.strictObject({ credits: z.number() });
const tokensSchema = z.strictObject({
  userId: z.exactOptional(z.string()),
  scopes: z.exactOptional(z.array(z.enum(allScopes))),
  lifetimeMs: z.exactOptional(milliseconds),
});

/** The X-specific routes of the control endpoint. */
function xControl(controls: XControls): ExtraControl {
  return {
    state: () => ({
      now: controls.clock.now(),
      lagMs: controls.lag(),
      tier: controls.tier(),
      ...controls.balance(),
      credentials: controls.credentials,
      landmarks: controls.landmarks,
    }),
    reads: {
      '/commits': (query) => ({ commits: controls.commits(commitQuery<Act['kind']>(query)) }),
    },
    sets: {
      '/clock': (given) =>
        controls.clock.advance(checked(clockSchema, given, 'the clock').advanceMs),
      '/lag': (given) => controls.setLag(checked(lagSchema, given, 'the lag').lagMs),
      '/tier': (given) => controls.setTier(checked(tierSchema, given, 'the tier').tier),
      '/credits': (given) =>
        controls.setCredits(checked(creditsSchema, given, 'the credits').credits),
      '/tokens': (given) => controls.issueTokens(checked(tokensSchema, given, 'the tokens')),
    },
  };
}
