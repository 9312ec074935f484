import type { PackDeps, PackHealth, PackInstance } from '@toolkeel/contract';
import { systemClock } from '@toolkeel/kernel';
import { createHealthCheck, type CallContext } from '@toolkeel/pack-kit';
import { createClient, type Client } from './api/client.js';
import type { XConfig } from './config.js';
import type { RuntimeContext } from './pack.js';
import { checkHealth } from './tools/about.js';
import { createTools } from './tools/index.js';

/** X shows most posts within this time. */
const READ_BACK_MS = 8_000;

export function createInstance(
  config: XConfig,
  deps: PackDeps,
  { env = process.env, readBackMs = READ_BACK_MS }: RuntimeContext,
): PackInstance {
  const clock = { ...systemClock, now: deps.now };
  const client = createClient(config, { ...deps, env, readBackMs, clock });
  return {
    tools: createTools(client),
    health: createHealthCheck(deps.now, (call) => packHealth(client, call)),
    upstreams: () => [client.upstream],
    close: client.close,
  };
}

async function packHealth(client: Client, context: CallContext): Promise<PackHealth> {
  const { ok, configured, problem } = await checkHealth(client, context, true);
  const { account } = client.config;
  const detail = `${account}: ${problem?.message ?? 'answers'}`;
  if (!configured) return { ok, detail, configured };
  return problem?.code === 'x_auth_expired'
    ? { ok, detail, advice: renewalAdvice(client) }
    : { ok, detail };
}

function renewalAdvice({ config, session }: Client): string {
  if (!config.accessToken && session.user?.exists()) return 'Log in again: toolkeel login x';
  const name = config.accessToken ? 'accessToken' : 'bearerToken';
  return `Set packs.x.${name} to a token that X accepts, or remove it and log in: toolkeel login x`;
}
