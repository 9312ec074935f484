import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { metaTraits } from './traits.js';

const moment = z.string();
const none = z.object({});

export const getCapabilitiesSpec = specifyTool({
  ...metaTraits,
  name: 'get_capabilities',
  title: 'What can be done',
  description:
    'Tells which X tools can be used with this account, why others cannot, and what calls cost.',
  input: none,
  output: z.strictObject({
    account: z.string(),
    tier: z.string(),
    logged_in: z.boolean(),
    app_token: z.boolean(),
    scopes: z.array(z.string()).nullable().describe('null where nobody knows.'),
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
    prices: z.record(z.string(), z.number()).describe('In US dollars for one of each.'),
  }),
});

export const healthCheckSpec = specifyTool({
  ...metaTraits,
  openWorld: true,
  category: 'health',
  name: 'health_check',
  title: 'Is X well',
  description:
    'Tells whether X can be used right now: login, reachability, circuit, used-up limits.',
  input: z.object({
    probe: z
      .boolean()
      .default(true)
      .describe('Whether to ask X, if it has not answered within the last minute.'),
  }),
  output: z.strictObject({
    ok: z.boolean(),
    configured: z.boolean(),
    problem: z
      .strictObject({ code: z.string(), message: z.string() })
      .nullable()
      .describe('What stands in the way.'),
    last_success_at: moment.nullable(),
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
  description: 'Shows how the X pack is configured. Of secrets it only says whether they are set.',
  input: none,
  output: z.strictObject({ config: z.record(z.string(), z.unknown()) }),
});

export const validateConfigSpec = specifyTool({
  ...metaTraits,
  openWorld: false,
  category: 'config',
  name: 'validate_config',
  title: 'Check the configuration',
  description: 'Looks for what is missing or wrong in the configuration of the X pack.',
  input: none,
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
  title: 'Limits of X',
  description:
    'Shows what X has said about its limits: by endpoint, for 15 minutes and for 24 hours. Asks nobody.',
  input: none,
  output: z.strictObject({
    limits: z.array(
      z.strictObject({
        endpoint: z.string(),
        credential: z.enum(['app', 'user']),
        window: z.string(),
        limit: z.number().optional(),
        remaining: z.number(),
        reset: moment,
      }),
    ),
  }),
});
