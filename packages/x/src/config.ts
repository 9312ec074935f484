import * as z from 'zod';
import { defaultPrices } from './cost/prices.js';

const httpUrl = z.url({ protocol: /^https?$/ });

/** Where a secret is kept: a variable of the environment, or a file that only its owner can read. */
const secret = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ file: z.string().min(1) }),
]);

const seconds = z.number().positive().max(3600);
const price = z.number().min(0).max(1000);

/** `packs.x` of the configuration. */
export const configSchema = z.strictObject({
  baseUrl: httpUrl.default('https://api.x.com').describe('Where the X API is.'),
  authorizeUrl: httpUrl
    .default('https://x.com/i/oauth2/authorize')
    .describe('Where a person allows the app to act, for the login.'),
  account: z
    .string()
    .regex(/^[\w.@-]{1,64}$/)
    .default('default')
    .describe('What rules call this account. The journal records the id that X has for its user.'),
  bearerToken: secret.optional().describe("The app's own token: reads that need no account."),
  accessToken: secret
    .optional()
    .describe("A user's OAuth 2.0 token. It is not renewed: use tokenFile for that."),
  tokenFile: z
    .string()
    .min(1)
    .optional()
    .describe('Where the login is kept that `toolkeel login x` makes. It is renewed in place.'),
  clientId: z.string().min(1).optional().describe('Of the X app, for logging in and renewing.'),
  clientSecret: secret.optional().describe('Of a confidential X app.'),
  tier: z
    .enum(['self_serve', 'enterprise'])
    .default('self_serve')
    .describe('X gives likes, follows and quotes to enterprise only.'),
  maxPostLength: z
    .int()
    .min(1)
    .max(25_000)
    .default(280)
    .describe('In weighted characters; accounts that pay for it may write more.'),
  mediaDirectories: z
    .array(z.string().min(1))
    .default([])
    .describe('Files below these folders can be uploaded, and no others.'),
  prices: z
    .partialRecord(z.enum(Object.keys(defaultPrices) as (keyof typeof defaultPrices)[]), price)
    .default({})
    .describe('In US dollars, where they differ from the list that X published.'),
  spelling: z
    .enum(['tweet', 'post'])
    .default('tweet')
    .describe('How X wants its field parameters to be called: it is renaming them.'),
  reconcile: z
    .strictObject({
      authoritativeAfterSecs: z
        .int()
        .min(1)
        .max(604_800)
        .describe('How long X may still act on a request whose answer was lost.'),
    })
    .optional()
    .describe(
      'Settles a post, reply or quote with an unknown outcome as not executed, after two read-backs that show a newer post and not this one. Risk: if X makes or shows it later, or it was deleted meanwhile, a repeat posts it again. Left out: it stays unknown until it is found or an operator settles it.',
    ),
  toolTimeoutSecs: seconds.default(15),
  attemptTimeoutSecs: seconds.default(10),
  maxRetries: z.int().min(0).max(5).default(2),
  maxResponseBytes: z
    .int()
    .min(65_536)
    .max(67_108_864)
    .default(8_388_608)
    .describe('The largest answer of X that is read.'),
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

/** What the environment says about `packs.x`; it goes over the file and under the flags. */
export function configFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): z.input<typeof configSchema> {
  const cap = env['X_MCP_TOOL_TIMEOUT_SECS'] ?? env['TOOLKEEL_TOOL_TIMEOUT_SECS'];
  const settings = Object.entries(SETTINGS).map(([key, name]) => [key, env[name]] as const);
  // Where they are, not what they are: so they are in no place where settings are shown.
  const secrets = Object.entries(SECRETS).map(
    ([key, name]) => [key, env[name] && { env: name }] as const,
  );
  const given = [...settings, ...secrets].filter(([, value]) => value);
  // What cannot be is refused by the schema, which names it.
  const named: z.input<typeof configSchema> = Object.fromEntries<never>(given as never);
  return { ...named, ...(cap && { toolTimeoutSecs: Number(cap) }) };
}
