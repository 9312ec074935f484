import type { PackDeps, PackHealth, PackInstance } from '@toolkeel/contract';
import { definePolicy, presets, systemClock, type Clock } from '@toolkeel/kernel';
import {
  causeOf,
  createHealthCheck,
  describeFailure,
  policyOf,
  type CallContext,
} from '@toolkeel/pack-kit';
import { Catalogs } from './api/catalogs.js';
import { createClient, type Client } from './api/client.js';
import { Signer } from './api/signer.js';
import type { StacConfig } from './config.js';
import { createDocuments, createRequests } from './http/requests.js';
import type { RuntimeContext } from './pack.js';
import { prompts } from './prompts.js';
import { createResources } from './resources.js';
import { createTools } from './tools/index.js';

export function createInstance(
  config: StacConfig,
  deps: PackDeps,
  { env = process.env, ...network }: RuntimeContext,
): PackInstance {
  const clock: Clock = { ...systemClock, now: deps.now };
  const catalogs = new Catalogs(config, env, network.isAllowed);
  const hedge = { quantile: 0.85, minSamples: 16, capacity: 10, perSuccess: 0.2 };
  const requests = createRequests({
    policy: definePolicy({ ...policyOf(presets.stac, config), ...(config.hedge && { hedge }) }),
    maxBytes: config.maxResponseBytes,
    deps,
    clock,
    network,
    trusted: catalogs.all.flatMap(({ trusted }) => [...trusted]),
  });
  const documents = createDocuments(requests);
  const signer = new Signer(documents, () => clock.wallNow());
  const capMs = config.toolTimeoutSecs * 1000;
  const client = createClient({ catalogs, requests, documents, signer, clock, capMs });
  return {
    tools: createTools(client),
    resources: createResources(client),
    prompts,
    health: createHealthCheck(deps.now, (context) => checkHealth(client, context)),
    upstreams: requests.upstreams,
    close: requests.close,
  };
}

/** Reads the landing pages of all configured catalogues. The pack is healthy if the default one responds. */
async function checkHealth(client: Client, context: CallContext): Promise<PackHealth> {
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
