import type { Client } from '../api/client.js';
import { routes } from '../api/routes.js';
import { sizeLimits, supportedTypes } from '../media/sniff.js';
import { enterpriseOnly } from '../tier.js';
import { toolRoutes } from './tool-routes.js';

/** What can be done with this account, and why the rest cannot. */
export async function capabilities(client: Client) {
  const { config, session, prices } = client;
  const scopes = (await session.user?.scopes().catch(() => undefined)) ?? null;
  const isLoggedIn = await hasLogin(client);
  const tools = Object.keys(toolRoutes).map((name) => {
    const reason = obstacle(name, client, isLoggedIn, scopes);
    return reason === undefined ? { name, available: true } : { name, available: false, reason };
  });
  return {
    account: config.account,
    tier: config.tier,
    logged_in: isLoggedIn,
    app_token: session.app !== undefined,
    scopes,
    max_post_length: config.maxPostLength,
    media: {
      enabled: config.mediaDirectories.length > 0,
      types: supportedTypes,
      max_bytes: sizeLimits,
    },
    tools,
    prices,
  };
}

/** A file for a login may be named and not be there yet, or have one that is over. */
async function hasLogin({ session: { user } }: Client): Promise<boolean> {
  if (!user) return false;
  return user.scopes().then(
    () => !user.isOver(),
    () => false,
  );
}

function obstacle(
  tool: string,
  { config, session }: Client,
  isLoggedIn: boolean,
  scopes: readonly string[] | null,
): string | undefined {
  const used = (toolRoutes[tool] ?? []).map((name) => routes[name]);
  const needsLogin = used.some(({ auth }) => auth === 'user');
  if (!isLoggedIn && (needsLogin || !session.app)) {
    return needsLogin ? 'needs the login of an account' : 'needs a login or an app token';
  }
  if (config.tier !== 'enterprise' && enterpriseOnly[tool] !== undefined) {
    return 'X gives this to its enterprise tier only';
  }
  if (tool === 'x_upload_media' && config.mediaDirectories.length === 0) {
    return 'mediaDirectories is empty';
  }
  const missing = scopes
    ? used.flatMap((route) => route.scopes).filter((scope) => !scopes.includes(scope))
    : [];
  return missing.length === 0
    ? undefined
    : `the login was not allowed ${[...new Set(missing)].join(', ')}`;
}
