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
import type { StacConfig } from './config.js';
import { AgentPool, Gateway } from './http/gateway.js';
import { Documents } from './http/documents.js';
import { memberOf } from './json.js';
import type { RuntimeContext } from './pack.js';
import { prompts } from './prompts.js';
import { isPublicAddress, systemResolve } from './http/ssrf.js';
import { createResources } from './resources.js';
import { Signer } from './api/signer.js';
import { failureOf } from './tools/tool.js';
import { createTools } from './tools/index.js';

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
  let looking: Promise<PackHealth> | undefined;
  const instance = {
    tools: createTools(client),
    resources: createResources(client),
    prompts,
    // Whoever asks meanwhile waits for the same look: credentials go out once, not once for each.
    health: () => {
      looking ??= healthOf(client).finally(() => (looking = undefined));
      return looking;
    },
    upstreams: () => gateway.upstreams,
    close: () => pool.close(),
  };
  return instance;
}

/** The preset, with what the operator changed. One attempt cannot take longer than the call. */
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

/** Whether the configured catalogues answer. The default one decides; the others are reported. */
async function healthOf(client: Client): Promise<PackHealth> {
  const scope = {
    deadline: client.now() + HEALTH_TIMEOUT_MS,
    signal: new AbortController().signal,
    correlationId: 'health',
    noteRetry: () => {},
    progress: () => {},
  };
  const looks = client.catalogs.all.map(async (catalog) => {
    const { name, url } = catalog;
    try {
      const { kind } = await client.landing(catalog, scope, { fresh: true });
      return { name, ok: true, says: `answers (${kind})`, detail: `${url.host} answers (${kind})` };
    } catch (cause) {
      const says = failureOf(cause)?.code ?? 'failed';
      return { name, ok: false, says, detail: `${url.host} fails: ${says}${factOf(cause)}` };
    }
  });
  const results = await Promise.all(looks);
  const main = results.find(({ name }) => name === client.catalogs.defaultName);
  return {
    ok: main?.ok === true,
    detail: results.map(({ name, says }) => `${name}: ${says}`).join('; '),
    upstreams: results.map(({ name, ok, detail }) => ({ name, ok, detail })),
  };
}

/** The one fact about a fault that tells an operator where to look: a status, a clock, an error's code. */
function factOf(cause: unknown): string {
  if (!(cause instanceof FaultError)) return '';
  const { status, clock, cause: thrown } = cause.fault;
  const code = memberOf(thrown, 'code');
  const fact = status ?? clock ?? (typeof code === 'string' ? code : undefined);
  return fact === undefined ? '' : ` (${fact})`;
}
