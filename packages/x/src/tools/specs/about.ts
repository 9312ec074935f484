import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { metaTraits } from './common.js';

const timestamp = z.string();
const noArguments = z.object({});

export const getCapabilitiesSpec = specifyTool({
  ...metaTraits,
  name: 'get_capabilities',
  title: 'Capabilities',
  description:
    'Lists which X tools this account can use, why others are unavailable, and what calls cost.',
  input: noArguments,
  output: z.strictObject({
    account: z.string(),
    tier: z.string(),
    logged_in: z.boolean(),
    app_token: z.boolean(),
    scopes: z.array(z.string()).nullable().describe('null if unknown.'),
    max_post_length: z.int(),
    media: z.strictObject({
      enabled: z.boolean(),
      types: z.array(z.string()),
      max_bytes: z.record(z.string(), z.int()),
    }),
    tools: z.array(
      z.strictObject({
        name: z.string(),
        available: z.boolean(),
        reason: z.string().optional(),
      }),
    ),
    prices: z.record(z.string(), z.number()).describe('In US dollars per item.'),
  }),
});

export const healthCheckSpec = specifyTool({
  ...metaTraits,
  openWorld: true,
  category: 'health',
  name: 'health_check',
  title: 'Health of X',
  description:
    'Reports whether X can be used now: login, reachability, circuit, exhausted rate limits.',
  input: z.object({
    probe: z
      .boolean()
      .default(true)
      .describe('Sends a request to X if it has not answered within the last minute.'),
  }),
  output: z.strictObject({
    ok: z.boolean(),
    configured: z.boolean(),
    problem: z
      .strictObject({ code: z.string(), message: z.string() })
      .nullable()
      .describe('Why X cannot be used.'),
    last_success_at: timestamp.nullable(),
    circuit: z.string(),
    exhausted_limits: z.int(),
  }),
});

export const getConfigSpec = specifyTool({
  ...metaTraits,
  openWorld: false,
  category: 'config',
  name: 'get_config',
  title: 'Configuration',
  description: 'Shows the configuration of the X pack. Secrets are shown as set or not set.',
  input: noArguments,
  output: z.strictObject({ config: z.record(z.string(), z.unknown()) }),
});

export const validateConfigSpec = specifyTool({
  ...metaTraits,
  openWorld: false,
  category: 'config',
  name: 'validate_config',
  title: 'Validate the configuration',
  description: 'Reports missing or wrong settings of the X pack.',
  input: noArguments,
  output: z.strictObject({
    valid: z.boolean(),
    findings: z.array(
      z.strictObject({
        severity: z.enum(['error', 'warning']),
        setting: z.string(),
        message: z.string(),
      }),
    ),
  }),
});

export const getRateLimitsSpec = specifyTool({
  ...metaTraits,
  openWorld: false,
  category: 'policy',
  name: 'get_rate_limits',
  title: 'Rate limits of X',
  description:
    'Shows the last known rate limits of X by endpoint, for 15 minutes and 24 hours. Sends no request.',
  input: noArguments,
  output: z.strictObject({
    limits: z.array(
      z.strictObject({
        endpoint: z.string(),
        credential: z.enum(['app', 'user']),
        window: z.string(),
        limit: z.number().optional(),
        remaining: z.number(),
        reset: timestamp,
      }),
    ),
  }),
});
