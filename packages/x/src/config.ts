import {
  commonSettings,
  ConfigError,
  httpUrl,
  readSecret,
  secretSource as secret,
  settingsFromEnvironment,
  type Environment,
  type SecretSource,
} from '@toolkeel/pack-kit/base';
import * as z from 'zod';

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

const prose = z.string().min(1).max(2000).optional();
const phrases = z.array(z.string().trim().min(1).max(100)).max(200).default([]);

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
  workflow: z
    .strictObject({
      bannedPhrases: z
        .array(z.string().trim().min(2).max(200))
        .max(500)
        .default([])
        .describe(
          'No post may contain one of these, in any profile. Case and spacing do not matter.',
        ),
      blockedAuthors: z
        .array(z.string().regex(/^(?:@?\w{1,15}|\d{1,19})$/, 'must be a name or a user id'))
        .max(1000)
        .default([])
        .describe(
          'Accounts that are never replied to, quoted, mentioned or followed, in any profile.',
        ),
      allowSelfReply: z
        .boolean()
        .default(false)
        .describe('Whether the account may reply to itself.'),
      maxRepliesPerAuthorPerDay: z
        .int()
        .min(1)
        .max(1000)
        .default(3)
        .describe('Replies that one author may receive in 24 hours.'),
      scheduleGraceMinutes: z
        .int()
        .min(1)
        .max(10_080)
        .default(60)
        .describe(
          'How late a scheduled post may be executed after a stop. Later ones are reported as missed.',
        ),
      measureAfterHours: z
        .int()
        .min(0)
        .max(168)
        .default(24)
        .describe('When the performance of a post is read, which X charges for. 0: never.'),
      about: prose.describe('What the account is about and offers, for generated texts.'),
      voice: prose.describe('How the account writes, for generated texts.'),
      audience: prose.describe('Whom the account writes for, unless a call names an audience.'),
      keywords: phrases.describe(
        'What makes a tweet relevant; find_reply_opportunities searches it.',
      ),
      topics: phrases.describe('What the account writes about.'),
      targetAccounts: z
        .array(z.string().regex(/^@?\w{1,15}$/, 'must be a user name'))
        .max(100)
        .default([])
        .describe('Accounts whose relationship list_target_accounts reports.'),
      minScore: z
        .number()
        .min(0)
        .max(90)
        .default(60)
        .describe('The least score of a tweet that is worth a reply, of 90.'),
      maxRepliesPerDay: z
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .describe('Replies of the account in 24 hours. Default: only the limits of the policy.'),
      historyDays: z.int().min(1).max(3650).default(180).describe('Retention of posts and drafts.'),
    })
    .prefault({})
    .describe('Rules and drafts of the workflow profile.'),
  ...commonSettings({ toolTimeoutSecs: 15, attemptTimeoutSecs: 10, maxRetries: 2 }),
});

export type XConfig = z.output<typeof configSchema>;

const VARIABLES = {
  settings: {
    baseUrl: 'TOOLKEEL_X_BASE_URL',
    authorizeUrl: 'TOOLKEEL_X_AUTHORIZE_URL',
    tokenFile: 'TOOLKEEL_X_TOKEN_FILE',
    clientId: 'TOOLKEEL_X_CLIENT_ID',
    tier: 'TOOLKEEL_X_TIER',
  },
  secrets: {
    bearerToken: 'TOOLKEEL_X_BEARER_TOKEN',
    accessToken: 'TOOLKEEL_X_ACCESS_TOKEN',
    clientSecret: 'TOOLKEEL_X_CLIENT_SECRET',
  },
  timeout: ['X_MCP_TOOL_TIMEOUT_SECS'],
} as const;

/** Settings of `packs.x` from environment variables. They override the file; flags override them. */
export function configFromEnvironment(env: Environment): z.input<typeof configSchema> {
  return settingsFromEnvironment(env, VARIABLES);
}

/** Reads a token from its source. Throws a `ConfigError` for characters that no token has. */
export function readToken(source: SecretSource, setting: string, env: Environment): string {
  const token = readSecret(source, setting, env);
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ConfigError(
    `${setting}: contains whitespace or characters that are invalid in a token`,
  );
}
