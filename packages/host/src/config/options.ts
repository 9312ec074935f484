import { presets } from '@toolkeel/kernel/policy';
import type { SecretSource } from '@toolkeel/pack-kit/base';
import type { PackEntry } from '../catalog/loaded-pack.js';
import type { HostOptions } from '../host.js';
import type { HttpOptions } from '../http/serve.js';
import type { Secret, Secrets } from '../secret/secrets.js';
import { isObject, type Environment, type JsonObject } from './layers.js';
import type { PackBinding } from './load.js';
import type { Config } from './schema.js';

/** Resolves a setting that may be a secret source. */
export type ResolveSecret = (
  name: string,
  source: string | SecretSource | undefined,
) => Secret | undefined;

export interface NotifySettings {
  readonly webhook?: { readonly url: Secret; readonly token?: Secret };
  readonly command?: readonly string[];
}

/** Whether a call may have to wait for an operator. */
function needsApprovals({ mode = 'composer', template, rules }: Config): boolean {
  if (mode === 'composer' || template !== 'open') return true;
  const given: readonly unknown[] = Array.isArray(rules) ? rules : [];
  return given.some((rule) => isObject(rule) && rule['action'] === 'require_approval');
}

export function hostOptionsOf(
  config: Config,
  secrets: Secrets,
): Pick<HostOptions, 'profile' | 'callTimeoutMs' | 'byteBudget' | 'scrub' | 'watchSecret'> {
  const { profile, mode = 'composer', toolTimeoutSecs, byteBudget } = config;
  const approvalMode = needsApprovals(config);
  return {
    profile: profile === 'workflow' ? { name: profile, mode, approvalMode } : profile,
    scrub: secrets.scrub,
    watchSecret: secrets.watchRotating,
    ...(toolTimeoutSecs !== undefined && { callTimeoutMs: toolTimeoutSecs * 1000 }),
    ...(byteBudget !== undefined && { byteBudget }),
  };
}

export function httpOptionsOf(
  { http }: Config,
  token: Secret | undefined,
  metricsToken: Secret | undefined,
): HttpOptions {
  const { host, port, allowedHosts, allowedOrigins, bodyLimitBytes, graceSecs } = http;
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(token && { token }),
    ...(metricsToken && { metricsToken }),
    ...(allowedHosts && { allowedHosts }),
    ...(allowedOrigins && { allowedOrigins }),
    ...(bodyLimitBytes !== undefined && { bodyLimitBytes }),
    ...(graceSecs !== undefined && { graceMs: graceSecs * 1000 }),
  };
}

export function notifySettingsOf(
  { notify = {} }: Config,
  resolveSecret: ResolveSecret,
): NotifySettings {
  const { webhook, command } = notify;
  const url = resolveSecret('notify.webhook.url', webhook?.url);
  const token = resolveSecret('notify.webhook.token', webhook?.token);
  return {
    ...(url && { webhook: { url, ...(token && { token }) } }),
    ...(command && { command }),
  };
}

export interface PackSources {
  /** The merged settings, before validation. */
  readonly values: JsonObject;
  readonly config: Config;
  readonly env: Environment;
  readonly flags: JsonObject;
  /** The settings that the pack derives from the data directory, given its other settings. */
  readonly dataDirSettings: (settings: JsonObject) => JsonObject;
}

/** The settings of a pack and the time limit of its calls, by precedence. */
export function packEntryOf(
  { pack, preset }: PackBinding,
  { values, config, env, flags, dataDirSettings }: PackSources,
): PackEntry {
  const { packs } = values;
  const given =
    isObject(packs) && isObject(packs[pack.name]) ? (packs[pack.name] as JsonObject) : {};
  const settings = { ...dataDirSettings(given), ...given };
  const parsed = config.packs[pack.name] ?? pack.configSchema.safeParse(settings).data;
  const packTimeout = isObject(parsed) ? parsed['toolTimeoutSecs'] : undefined;
  const configured =
    positiveNumber(flags['toolTimeoutSecs']) ??
    positiveNumber(env[`${pack.name.toUpperCase()}_MCP_TOOL_TIMEOUT_SECS`]) ??
    positiveNumber(env['TOOLKEEL_TOOL_TIMEOUT_SECS']) ??
    positiveNumber(settings['toolTimeoutSecs']) ??
    config.toolTimeoutSecs;
  const policy = preset && { ...presets[preset], ...config.policies[preset] };
  const secs = configured ?? positiveNumber(packTimeout);
  const callTimeoutMs = secs === undefined ? policy?.callTimeoutMs : secs * 1000;
  // A pack that has the setting itself gets the effective value.
  const isOverridden = packTimeout !== undefined && configured !== undefined;
  return {
    pack,
    config: isOverridden ? { ...settings, toolTimeoutSecs: configured } : settings,
    ...(callTimeoutMs !== undefined && { callTimeoutMs }),
  };
}

function positiveNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && number > 0 ? number : undefined;
}
