import type { HostOptions } from '../host.js';
import type { HttpOptions } from '../http/serve.js';
import type { Secret } from '../secret/secret.js';
import type { Secrets } from '../secret/secrets.js';
import type { Config } from './schema.js';

export function hostOptionsOf(
  { profile, mode = 'composer', toolTimeoutSecs, byteBudget }: Config,
  secrets: Secrets,
): Pick<HostOptions, 'profile' | 'callTimeoutMs' | 'byteBudget' | 'scrub' | 'watchSecret'> {
  return {
    profile: profile === 'workflow' ? { name: profile, mode, approvalMode: true } : profile,
    scrub: secrets.scrub,
    watchSecret: secrets.watchPassing,
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
