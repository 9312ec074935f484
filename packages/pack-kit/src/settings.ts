import { definePolicy, type ResiliencePolicy } from '@toolkeel/kernel/policy';
import * as z from 'zod';
import type { Environment } from './secrets.js';

export const httpUrl = z.url({ protocol: /^https?$/ });

const seconds = z.number().positive().max(3600);

/** The settings that every pack has. Spread them into the pack's schema. */
export function commonSettings(defaults: {
  readonly toolTimeoutSecs: number;
  readonly attemptTimeoutSecs: number;
  readonly maxRetries: number;
}) {
  return {
    toolTimeoutSecs: seconds.default(defaults.toolTimeoutSecs),
    attemptTimeoutSecs: seconds.default(defaults.attemptTimeoutSecs),
    maxRetries: z.int().min(0).max(5).default(defaults.maxRetries),
    maxResponseBytes: z
      .int()
      .min(65_536)
      .max(268_435_456)
      .default(8_388_608)
      .describe('The maximum size of a response.'),
  };
}

/** The preset with the operator's settings. An attempt cannot take longer than the call. */
export function policyOf(
  preset: ResiliencePolicy,
  settings: z.output<z.ZodObject<ReturnType<typeof commonSettings>>>,
): ResiliencePolicy {
  const callTimeoutMs = settings.toolTimeoutSecs * 1000;
  return definePolicy({
    ...preset,
    maxRetries: settings.maxRetries,
    callTimeoutMs,
    attemptTimeoutMs: Math.min(settings.attemptTimeoutSecs * 1000, callTimeoutMs),
  });
}

interface Variables {
  /** The variable of each setting. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The variable of each secret. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Variables of the tool timeout besides `TOOLKEEL_TOOL_TIMEOUT_SECS`, which they override. */
  readonly timeout?: readonly string[];
}

/** The settings that environment variables contain. They override the file; the schema validates them. */
export function settingsFromEnvironment(
  env: Environment,
  { settings = {}, secrets = {}, timeout = [] }: Variables,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [key, name] of Object.entries(settings)) if (env[name]) found[key] = env[name];
  // A reference to the variable, so that no secret is part of the settings.
  for (const [key, name] of Object.entries(secrets)) if (env[name]) found[key] = { env: name };
  const cap = [...timeout, 'TOOLKEEL_TOOL_TIMEOUT_SECS'].find((name) => env[name]);
  // NaN stays: the schema rejects it and names the setting.
  if (cap !== undefined) found['toolTimeoutSecs'] = Number(env[cap]);
  return found;
}
