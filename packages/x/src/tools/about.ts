import type { Client } from '../api/client.js';
import { capabilities } from '../about/capabilities.js';
import { findings, redacted } from '../about/config-view.js';
import { healthOf } from '../about/health.js';
import {
  getCapabilitiesSpec,
  getConfigSpec,
  getRateLimitsSpec,
  healthCheckSpec,
  validateConfigSpec,
} from './specs/about.js';
import { aboutTool } from './tool.js';

export const getCapabilities = (client: Client) =>
  aboutTool(getCapabilitiesSpec, client, () => capabilities(client));

export const healthCheck = (client: Client) =>
  aboutTool(healthCheckSpec, client, ({ probe }, scope) => healthOf(client, scope, probe));

export const getConfig = (client: Client) =>
  aboutTool(getConfigSpec, client, async () => ({ config: redacted(client.config) }));

export const validateConfig = (client: Client) =>
  aboutTool(validateConfigSpec, client, async () => {
    const found = await findings(client);
    return { valid: found.every(({ severity }) => severity !== 'error'), findings: found };
  });

export const getRateLimits = (client: Client) =>
  aboutTool(getRateLimitsSpec, client, async () => ({
    limits: client.windows.list(client.clock.wallNow()).map(({ info, ...about }) => ({
      ...about,
      ...(!info.limitUnknown && { limit: info.limit }),
      remaining: info.remaining,
      reset: new Date(info.reset * 1000).toISOString(),
    })),
  }));
