import {
  httpUrl,
  secretSource,
  settingsFromEnvironment,
  type Environment,
} from '@toolkeel/pack-kit/base';
import * as z from 'zod';

const seconds = z.number().positive().max(3600);

/** Overrides of the timeouts of one attempt; null disables one. */
const timeouts = z
  .strictObject({
    connectSecs: seconds.nullable(),
    headersSecs: seconds.nullable(),
    firstContentSecs: seconds.nullable(),
    byteIdleSecs: seconds.nullable(),
    contentIdleSecs: seconds.nullable(),
    totalSecs: seconds.nullable(),
  })
  .partial();

const price = z.number().min(0).max(10_000);

const claudeSettings = z.strictObject({
  cliPath: z.string().min(1).optional().describe('Claude CLI. Default: claude on the PATH.'),
  model: z.string().min(1).default('sonnet').describe('Model or alias of the CLI.'),
  maxProcesses: z.int().min(1).max(64).default(2).describe('CLI processes at the same time.'),
  baseUrl: httpUrl.optional().describe('Address of a sandbox. The login is not sent to it.'),
  timeouts: timeouts.default({}),
});

const geminiSettings = z.strictObject({
  apiKey: secretSource.optional().describe('Default: TOOLKEEL_GEMINI_API_KEY or GEMINI_API_KEY.'),
  model: z.string().min(1).default('gemini-2.5-flash'),
  baseUrl: httpUrl.optional().describe('Base URL of the Gemini API.'),
  unary: z.boolean().default(false).describe('Do not stream, for proxies that cannot.'),
  prices: z
    .record(z.string(), z.strictObject({ input: price, output: price }))
    .default({})
    .describe('In US dollars per million tokens, by model. Without a price, no cost is known.'),
  timeouts: timeouts.default({}),
});

/** `packs.llm` of the configuration. */
export const configSchema = z.strictObject({
  providers: z
    .array(z.enum(['claude', 'gemini']))
    .min(1)
    .optional()
    .describe('In the order of preference. Default: those that are installed or have a key.'),
  claude: claudeSettings.prefault({}),
  gemini: geminiSettings.prefault({}),
  toolTimeoutSecs: seconds.default(300),
  maxRetries: z.int().min(0).max(5).default(2),
});

export type LlmConfig = z.output<typeof configSchema>;

/** Settings of `packs.llm` from environment variables. They override the file; flags override them. */
export function configFromEnvironment(env: Environment): z.input<typeof configSchema> {
  const gemini = settingsFromEnvironment(env, {
    settings: { baseUrl: 'TOOLKEEL_GEMINI_BASE_URL', model: 'TOOLKEEL_GEMINI_MODEL' },
    secrets: { apiKey: 'TOOLKEEL_GEMINI_API_KEY' },
  });
  const claude = settingsFromEnvironment(env, {
    settings: {
      cliPath: 'TOOLKEEL_CLAUDE_PATH',
      model: 'TOOLKEEL_CLAUDE_MODEL',
      baseUrl: 'TOOLKEEL_CLAUDE_BASE_URL',
    },
  });
  // The time limit belongs to the pack, not to a provider.
  const { toolTimeoutSecs, ...ownGemini } = gemini;
  const { toolTimeoutSecs: _, ...ownClaude } = claude;
  return {
    ...(Object.keys(ownGemini).length > 0 && { gemini: ownGemini }),
    ...(Object.keys(ownClaude).length > 0 && { claude: ownClaude }),
    ...(toolTimeoutSecs !== undefined && { toolTimeoutSecs }),
  } as z.input<typeof configSchema>;
}
