import { checked, type FaultRule, type Latency, UsageError } from '../faults/rules.js';
import { type ExtraControl, openSandbox, type Sandbox } from '../server/sandbox.js';
import type { Tier, XApi } from './api/call.js';
import { createRecent } from './api/create-post.js';
import { createCodes } from './auth/oauth.js';
import { allScopes, createTokens, type IssuedTokens, type IssueOptions } from './auth/tokens.js';
import { type Clock, createClock } from './clock.js';
import { type Act, type Commit, type CommitQuery, createCommits } from './commits.js';
import { type Gatekeeper, xUpstream } from './upstream.js';
import {
  createAccount,
  createWindows,
  documentedLimits,
  type LimitedRoute,
  type Limits,
} from './limits.js';
import { createUploads } from './uploads.js';
import { digestOf, type Landmarks, populatedWorld } from './population/populate.js';
import type { DrawBy } from '../faults/injector.js';
import * as z from 'zod';

const HALF_A_YEAR = 182 * 24 * 60 * 60;

/** Starts X on loopback, with users and posts of its own and faults on command. */
export async function startXSandbox(options: XSandboxOptions = {}): Promise<XSandbox> {
  const { seed = 1, clientId = 'toolkeel-sandbox', clientSecret } = options;
  const clock = createClock(options.startAt);
  const { world, landmarks } = populatedWorld(clock, seed);
  world.visibility.setLag(checkedMs('lagMs', options.lagMs ?? 0));
  const commits = createCommits();
  const account = createAccount(clock, options.credits, options.postCap);
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

  const api: XApi = {
    world,
    commits,
    account,
    names,
    tier: () => tier,
    recent: createRecent(clock, options.duplicateWindowMs ?? 24 * 60 * 60_000),
    uploads: createUploads(clock, {
      processingMs: options.mediaProcessingMs ?? 2000,
      checkAfterSecs: options.mediaCheckAfterSeconds ?? 1,
    }),
    maxPostLength: options.maxPostLength ?? 280,
  };
  const keeper: Gatekeeper = {
    tokens,
    windows,
    account,
    names,
    tier: () => tier,
    now: clock.now,
  };
  const app = {
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(options.redirectUris && { redirectUris: options.redirectUris }),
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
    xUpstream(api, keeper, { app, tokens, codes }),
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
    throw new UsageError(`${what} must be some milliseconds, not ${ms}`);
  return ms;
}

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

interface XControls {
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

export interface XSandboxOptions {
  /** Where the API listens on 127.0.0.1. Default: any free port, as for the control endpoint. */
  readonly port?: number;
  readonly controlPort?: number;
  /** Decides the population, the tokens and every draw. Default: 1. */
  readonly seed?: number;
  /** When the upstream's clock begins, in milliseconds since 1970. Default: now. */
  readonly startAt?: number;
  /** What the app may do. Default: self_serve. */
  readonly tier?: Tier;
  /** The app that tokens are for. Default: one that has no secret. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Where users may be sent back to. Default: anywhere on this machine. */
  readonly redirectUris?: readonly string[];
  /** Default: 7200. */
  readonly accessTokenLifetimeSeconds?: number;
  /** Default: half a year. */
  readonly refreshTokenLifetimeSeconds?: number;
  /** What is said of a refresh token that was used before. X was seen to say the second. */
  readonly refusedRefresh?: 'invalid_grant' | 'invalid_request';
  /** Limits that differ from the documented ones. */
  readonly limits?: Partial<Readonly<Record<LimitedRoute, Limits>>>;
  /** What there is to spend, in US dollars. Default: no end of it. */
  readonly credits?: number;
  /** How many posts can be read in a month. Default: 3,000,000. */
  readonly postCap?: number;
  /** For how long the same post is a duplicate; 0 is not at all. Default: a day. */
  readonly duplicateWindowMs?: number;
  /** Up to which weighted length a post is taken. Default: 280. */
  readonly maxPostLength?: number;
  /** How far reads lag behind writes. Default: not at all. */
  readonly lagMs?: number;
  /** How long a video is worked on. Default: 2000. */
  readonly mediaProcessingMs?: number;
  /** After how long a client is told to ask again. Default: 1. */
  readonly mediaCheckAfterSeconds?: number;
  readonly faults?: readonly FaultRule[];
  readonly latency?: Latency;
  readonly drawBy?: DrawBy;
  /** How many requests the log holds. Default: 10,000. */
  readonly logCapacity?: number;
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

/** What X offers another process beside what every upstream offers. */
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
      '/commits': (query) => ({ commits: controls.commits(commitQuery(query)) }),
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

function commitQuery({ after, kind, ...rest }: Readonly<Record<string, string>>): CommitQuery {
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined) throw new UsageError(`"${stranger}" is neither after nor kind`);
  if (after !== undefined && !/^\d{1,9}$/.test(after))
    throw new UsageError(`after "${after}" is not a number`);
  return {
    ...(after !== undefined && { after: Number(after) }),
    ...(kind !== undefined && { kind: kind as Act['kind'] }),
  };
}
