import { readFileSync, statSync, type Stats } from 'node:fs';
import * as z from 'zod';

const httpUrl = z.url({ protocol: /^https?$/ });

/** Where a secret is stored: an environment variable, or a file that only its owner can read. */
const secret = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ file: z.string().min(1) }),
]);

const seconds = z.number().positive().max(3600);
const price = z.number().min(0).max(1000);

/**
 * X's price list of 2026, in US dollars per item. Estimates are upper bounds: they ignore X's discount for an
 * account's own data, which only X can determine.
 */
const defaultPrices = Object.freeze({
  post: 0.015,
  post_with_url: 0.2,
  summoned_reply: 0.01,
  interaction_create: 0.015,
  interaction_delete: 0.01,
  bookmark: 0.005,
  post_read: 0.005,
  user_read: 0.01,
  follow_read: 0.01,
  owned_read: 0.001,
});

export type PriceName = keyof typeof defaultPrices;
export type Prices = Readonly<Record<PriceName, number>>;

export function pricesOf(overrides: Partial<Record<PriceName, number>>): Prices {
  return { ...defaultPrices, ...overrides };
}

/** `packs.x` of the configuration. */
export const configSchema = z.strictObject({
  baseUrl: httpUrl.default('https://api.x.com').describe('Base URL of the X API.'),
  authorizeUrl: httpUrl
    .default('https://x.com/i/oauth2/authorize')
    .describe('URL of the OAuth authorization page.'),
  account: z
    .string()
    .regex(/^[\w.@-]{1,64}$/)
    .default('default')
    .describe('Name of this account in rules. The journal records the user id of X instead.'),
  bearerToken: secret.optional().describe('Bearer token of the app, for public reads.'),
  accessToken: secret
    .optional()
    .describe('OAuth 2.0 access token of a user. Not renewed; use tokenFile for that.'),
  tokenFile: z
    .string()
    .min(1)
    .optional()
    .describe('File of the login that `toolkeel login x` creates. Renewed in place.'),
  clientId: z.string().min(1).optional().describe('Client id of the X app, for login and renewal.'),
  clientSecret: secret.optional().describe('Client secret of a confidential X app.'),
  tier: z
    .enum(['self_serve', 'enterprise'])
    .default('self_serve')
    .describe('Likes, follows and quotes require enterprise.'),
  maxPostLength: z
    .int()
    .min(1)
    .max(25_000)
    .default(280)
    .describe('In weighted characters. Paid accounts may write longer posts.'),
  mediaDirectories: z
    .array(z.string().min(1))
    .default([])
    .describe('Only files below these folders can be uploaded.'),
  prices: z
    .partialRecord(z.enum(Object.keys(defaultPrices) as (keyof typeof defaultPrices)[]), price)
    .default({})
    .describe('In US dollars per item, where they differ from the published price list.'),
  spelling: z
    .enum(['tweet', 'post'])
    .default('tweet')
    .describe('Prefix of the field parameters, which X is renaming.'),
  reconcile: z
    .strictObject({
      authoritativeAfterSecs: z
        .int()
        .min(1)
        .max(604_800)
        .describe('How long X may still execute a request whose response was lost.'),
    })
    .optional()
    .describe(
      'Settles a post, reply or quote with an unknown outcome as not executed after two read-backs that show a newer post and not this one. Risk: if X creates or shows it later, or it was deleted meanwhile, a repeat posts it again. Default: it stays unknown until it is found or an operator settles it.',
    ),
  toolTimeoutSecs: seconds.default(15),
  attemptTimeoutSecs: seconds.default(10),
  maxRetries: z.int().min(0).max(5).default(2),
  maxResponseBytes: z
    .int()
    .min(65_536)
    .max(67_108_864)
    .default(8_388_608)
    .describe('Largest response of X to read.'),
});

export type XConfig = z.output<typeof configSchema>;
export type SecretSource = z.output<typeof secret>;

const SETTINGS = {
  baseUrl: 'TOOLKEEL_X_BASE_URL',
  authorizeUrl: 'TOOLKEEL_X_AUTHORIZE_URL',
  tokenFile: 'TOOLKEEL_X_TOKEN_FILE',
  clientId: 'TOOLKEEL_X_CLIENT_ID',
  tier: 'TOOLKEEL_X_TIER',
} as const;

const SECRETS = {
  bearerToken: 'TOOLKEEL_X_BEARER_TOKEN',
  accessToken: 'TOOLKEEL_X_ACCESS_TOKEN',
  clientSecret: 'TOOLKEEL_X_CLIENT_SECRET',
} as const;

/** Settings of `packs.x` from environment variables. They override the file; flags override them. */
export function configFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): z.input<typeof configSchema> {
  const cap = env['X_MCP_TOOL_TIMEOUT_SECS'] ?? env['TOOLKEEL_TOOL_TIMEOUT_SECS'];
  const settings = Object.entries(SETTINGS).map(([key, name]) => [key, env[name]] as const);
  // A reference to the variable, so that no secret is part of the settings.
  const secrets = Object.entries(SECRETS).map(
    ([key, name]) => [key, env[name] && { env: name }] as const,
  );
  const present = [...settings, ...secrets].filter(([, value]) => value);
  // The schema rejects invalid values.
  const named: z.input<typeof configSchema> = Object.fromEntries<never>(present as never);
  return { ...named, ...(cap && { toolTimeoutSecs: Number(cap) }) };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** An unusable setting. The message names the setting, never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads a secret from the configured environment variable or file. */
export function readSecret(source: SecretSource, setting: string, env: Environment): string {
  const value = 'env' in source ? env[source.env]?.trim() : readSecretFile(source.file, setting);
  if (value === undefined || value === '') {
    const where = 'env' in source ? `the variable ${source.env}` : `the file ${source.file}`;
    throw new ConfigError(`${setting}: ${where} is empty or does not exist`);
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new ConfigError(
      `${setting}: contains whitespace or characters that are invalid in a token`,
    );
  }
  return value;
}

function readSecretFile(path: string, setting: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  requirePrivateFile(path, stat, setting);
  return readFileSync(path, 'utf8').trim();
}

export function requirePrivateFile(path: string, stat: Stats, setting: string): void {
  if (stat.isDirectory()) throw new ConfigError(`${setting}: ${path} is a folder; specify a file`);
  // Windows has no permission bits.
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    throw new ConfigError(`${setting}: ${path} is readable by other users; set its mode to 600`);
  }
}
