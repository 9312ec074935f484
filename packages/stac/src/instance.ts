import type { PackDeps, PackHealth, PackInstance } from '@toolkeel/contract';
import {
  definePolicy,
  FaultError,
  presets,
  systemClock,
  type Clock,
  type ResiliencePolicy,
} from '@toolkeel/kernel';
import { Catalogs } from './api/catalogs.js';
import { Client } from './api/client.js';
import { Signer } from './api/signer.js';
import type { StacConfig } from './config.js';
import { Documents } from './http/documents.js';
import { AgentPool, Gateway } from './http/gateway.js';
import { isPublicAddress, systemResolve } from './http/ssrf.js';
import { memberOf } from './json.js';
import type { RuntimeContext } from './pack.js';
import { prompts } from './prompts.js';
import { createResources } from './resources.js';
import { createTools } from './tools/index.js';
import { describeFailure } from './tools/tool.js';

const HEALTH_TIMEOUT_MS = 5_000;

export function createInstance(
  config: StacConfig,
  deps: PackDeps,
  { env = process.env, resolve = systemResolve, isAllowed = isPublicAddress }: RuntimeContext,
): PackInstance {
  const clock: Clock = { ...systemClock, now: deps.now };
  const catalogs = new Catalogs(config, env, isAllowed);
  const policy = policyOf(config);
  const pool = new AgentPool({ resolve, isAllowed, connectTimeoutMs: policy.attemptTimeoutMs! });
  const gateway = new Gateway({
    policy,
    pool,
    isAllowed,
    maxBytes: config.maxResponseBytes,
    clock,
    random: deps.random,
    observe: deps.observe,
    configured: new Set(catalogs.all.flatMap(({ trusted }) => [...trusted])),
  });
  const documents = new Documents(gateway);
  const signer = new Signer(documents, () => clock.wallNow());
  const capMs = config.toolTimeoutSecs * 1000;
  const client = new Client({ catalogs, gateway, documents, signer, clock, capMs });
  let healthCheck: Promise<PackHealth> | undefined;
  return {
    tools: createTools(client),
    resources: createResources(client),
    prompts,
    // Concurrent health checks share one, so that they do not multiply requests.
    health: () => {
      healthCheck ??= checkHealth(client).finally(() => (healthCheck = undefined));
      return healthCheck;
    },
    upstreams: () => gateway.upstreams,
    close: () => pool.close(),
  };
}

/** The preset with the operator's settings. An attempt cannot take longer than the call. */
function policyOf(config: StacConfig): ResiliencePolicy {
  const callTimeoutMs = config.toolTimeoutSecs * 1000;
  return definePolicy({
    ...presets.stac,
    maxRetries: config.maxRetries,
    callTimeoutMs,
    attemptTimeoutMs: Math.min(config.attemptTimeoutSecs * 1000, callTimeoutMs),
    ...(config.hedge && {
      hedge: { quantile: 0.85, minSamples: 16, capacity: 10, perSuccess: 0.2 },
    }),
  });
}

/** Reads the landing pages of all configured catalogues. The pack is healthy if the default one responds. */
async function checkHealth(client: Client): Promise<PackHealth> {
  const context = {
    deadline: client.now() + HEALTH_TIMEOUT_MS,
    signal: new AbortController().signal,
    correlationId: 'health',
    noteRetry: () => {},
    progress: () => {},
  };
  const checks = client.catalogs.all.map(async (catalog) => {
    const { name, url } = catalog;
    try {
      const { kind } = await client.landing(catalog, context, { fresh: true });
      return {
        name,
        ok: true,
        state: `answers (${kind})`,
        detail: `${url.host} answers (${kind})`,
      };
    } catch (cause) {
      const state = describeFailure(cause)?.code ?? 'failed';
      return { name, ok: false, state, detail: `${url.host} fails: ${state}${causeOf(cause)}` };
    }
  });
  const results = await Promise.all(checks);
  const main = results.find(({ name }) => name === client.catalogs.defaultName);
  return {
    ok: main?.ok === true,
    detail: results.map(({ name, state }) => `${name}: ${state}`).join('; '),
    upstreams: results.map(({ name, ok, detail }) => ({ name, ok, detail })),
  };
}

/** The status, the timeout or the system error code of a fault, for the operator. */
function causeOf(cause: unknown): string {
  if (!(cause instanceof FaultError)) return '';
  const { status, clock, cause: thrown } = cause.fault;
  const code = memberOf(thrown, 'code');
  const detail = status ?? clock ?? (typeof code === 'string' ? code : undefined);
  return detail === undefined ? '' : ` (${detail})`;
}
