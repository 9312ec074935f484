import { UsageError } from '../chaos/usage.js';
import { openSandbox } from '../sandbox/open.js';
import type { Tier, XApi } from './api/call.js';
import { createRecent } from './api/duplicates.js';
import { createCodes } from './auth/codes.js';
import { createTokens } from './auth/tokens.js';
import { createClock } from './clock.js';
import { createCommits } from './commits.js';
import { xControl } from './control.js';
import type { Gatekeeper } from './gate.js';
import { createAccount } from './limits/account.js';
import { documentedLimits, type Limits } from './limits/table.js';
import { createWindows } from './limits/windows.js';
import { createUploads } from './media/uploads.js';
import type { XControls, XSandbox } from './handle.js';
import type { XSandboxOptions } from './options.js';
import { digestOf, populatedWorld } from './population/populate.js';
import { xUpstream } from './upstream.js';

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
