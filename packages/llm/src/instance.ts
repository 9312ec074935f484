import type { PackDeps, PackHealth, PackInstance } from '@toolkeel/contract';
import { createHealthCheck, type Environment } from '@toolkeel/pack-kit';
import type { LlmConfig } from './config.js';
import { modelsFrom, type ConfiguredModels } from './from-config.js';
import { createTools } from './tools/tools.js';

export function createInstance(config: LlmConfig, deps: PackDeps, env: Environment): PackInstance {
  const { now, random, observe } = deps;
  const models = modelsFrom(config, { now, random, env, listener: observe });
  return {
    tools: createTools(models, config),
    model: models.chain,
    health: createHealthCheck(now, () => packHealth(models)),
    upstreams: () =>
      [...models.byProvider.values()].flatMap(({ channels }) =>
        channels.map(({ upstream }) => upstream),
      ),
    close: models.close,
  };
}

async function packHealth({ chain }: ConfiguredModels): Promise<PackHealth> {
  if (!chain) {
    return {
      ok: false,
      configured: false,
      detail: 'no provider is configured',
      advice: 'Install the Claude CLI and log in, or set TOOLKEEL_GEMINI_API_KEY.',
    };
  }
  const states = await chain.health();
  const upstreams = states.map(({ provider, state, detail }) => ({
    name: provider,
    ok: state !== 'down',
    detail: `${state}: ${detail}`,
  }));
  const advice = states.find((state) => state.advice !== undefined)?.advice;
  return {
    ok: upstreams.some(({ ok }) => ok),
    detail: upstreams.map(({ name, detail }) => `${name} ${detail}`).join('; '),
    ...(advice !== undefined && { advice }),
    upstreams,
  };
}
