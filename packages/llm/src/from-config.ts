import { definePolicy, presets, systemClock, type Listener } from '@toolkeel/kernel';
import type { Environment } from '@toolkeel/pack-kit/base';
import { claude } from './claude/claude.js';
import { findCli } from './claude/environment.js';
import type { LlmConfig } from './config.js';
import type { ModelOptions } from './core/channel.js';
import { fallback, type Model } from './core/model.js';
import { defaultKey, gemini } from './gemini/gemini.js';

export interface ModelDeps {
  readonly now?: () => number;
  readonly random?: () => number;
  readonly listener?: Listener;
  readonly env: Environment;
}

/** The configured models by provider, in the order of preference, and the chain of all of them. */
export interface ConfiguredModels {
  readonly byProvider: ReadonlyMap<string, Model>;
  /** Undefined if no provider is configured. */
  readonly chain: Model | undefined;
  readonly close: () => Promise<void>;
}

export function modelsFrom(config: LlmConfig, deps: ModelDeps): ConfiguredModels {
  const { env, now, random, listener } = deps;
  const { toolTimeoutSecs, maxRetries } = config;
  const callTimeoutMs = toolTimeoutSecs * 1000;
  const shared = {
    policy: definePolicy({ ...presets.llm, maxRetries, callTimeoutMs }),
    clock: { ...systemClock, ...(now && { now }) },
    ...(random && { random }),
    ...(listener && { listener }),
    env,
  };
  const create = {
    claude: (): Model => {
      const { timeouts, cliPath, baseUrl, ...rest } = config.claude;
      return claude({
        ...shared,
        ...rest,
        ...(cliPath !== undefined && { cliPath }),
        ...(baseUrl !== undefined && { baseUrl }),
        timeouts: inMs(timeouts),
      });
    },
    gemini: (): Model => {
      const { timeouts, apiKey, baseUrl, ...rest } = config.gemini;
      return gemini({
        ...shared,
        ...rest,
        ...(apiKey && { apiKey }),
        ...(baseUrl !== undefined && { baseUrl }),
        timeouts: inMs(timeouts),
      });
    },
  };
  const names = config.providers ?? usableProviders(config, env);
  const byProvider = new Map(names.map((name) => [name, create[name]()] as const));
  const models = [...byProvider.values()];
  return {
    byProvider,
    chain: models.length > 0 ? fallback(models, { callTimeoutMs }) : undefined,
    close: async () => {
      await Promise.all(models.map((model) => model.close()));
    },
  };
}

/** The providers that can work: the CLI is installed, or there is a key. */
function usableProviders(
  { claude: { cliPath }, gemini: { apiKey } }: LlmConfig,
  env: Environment,
): readonly ('claude' | 'gemini')[] {
  const hasKey = apiKey !== undefined || defaultKey(env) !== undefined;
  return [
    ...(hasCli(cliPath, env) ? ['claude' as const] : []),
    ...(hasKey ? ['gemini' as const] : []),
  ];
}

function hasCli(cliPath: string | undefined, env: Environment): boolean {
  // A path that the operator has set counts even if it is wrong: the error then says so.
  if (cliPath !== undefined || env['TOOLKEEL_CLAUDE_PATH']) return true;
  try {
    return findCli(undefined, env) !== '';
  } catch {
    return false;
  }
}

/** `connectSecs` becomes `connectMs`. */
function inMs(settings: LlmConfig['claude']['timeouts']): NonNullable<ModelOptions['timeouts']> {
  const entries = Object.entries(settings).map(([name, secs]) => [
    name.replace(/Secs$/, 'Ms'),
    typeof secs === 'number' ? secs * 1000 : secs,
  ]);
  return Object.fromEntries(entries) as NonNullable<ModelOptions['timeouts']>;
}
