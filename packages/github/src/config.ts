import {
  commonSettings,
  ConfigError,
  httpUrl,
  readSecret,
  secretSource,
  settingsFromEnvironment,
  type Environment,
} from '@toolkeel/pack-kit/base';
import * as z from 'zod';

const count = z.int().min(1).max(1_000_000);

const pacing = z
  .strictObject({
    pointsPerMinute: count.describe('Per endpoint: 1 for a read, 5 for a write. Default: 900.'),
    graphqlPointsPerMinute: count.describe('Default: 2000.'),
    contentPerMinute: count.describe('Issues, comments, reviews and the like. Default: 80.'),
    contentPerHour: count.describe('Default: 500.'),
    maxConcurrent: count.describe('Default: 100.'),
    mutationIntervalMs: z
      .int()
      .min(0)
      .max(60_000)
      .describe('From the start of a mutation to that of the next one. Default: 1000.'),
    threshold: z
      .int()
      .min(0)
      .max(1000)
      .describe('Spread requests out when fewer remain. Default: 10.'),
  })
  .partial();

export const toolsets = ['core', 'write', 'actions'] as const;
export type Toolset = (typeof toolsets)[number];

export const configSchema = z.strictObject({
  baseUrl: httpUrl
    .default('https://api.github.com')
    .describe('Base URL of the REST API. Enterprise Server: https://HOST/api/v3.'),
  account: z
    .string()
    .regex(/^[\w.@-]{1,64}$/)
    .default('default')
    .describe('Name of this account in rules. The journal records the id at GitHub instead.'),
  token: secretSource.optional().describe('A personal access token, or a token of GitHub Actions.'),
  app: z
    .strictObject({
      id: z.union([z.int().min(1), z.string().min(1)]).describe('App id or client id.'),
      installationId: z.int().min(1),
      privateKey: secretSource.describe('PEM, PKCS#1 or PKCS#8.'),
      permissions: z
        .record(z.string(), z.enum(['read', 'write', 'admin']))
        .optional()
        .describe('Fewer permissions than the installation has.'),
      repositories: z.array(z.string().min(1)).min(1).optional().describe('Repository names.'),
    })
    .optional()
    .describe('An installation of a GitHub App. Used if no token is set.'),
  toolsets: z
    .array(z.enum(toolsets))
    .min(1)
    .default(['core', 'write'])
    .describe('Which tools are listed: reads, mutations, workflow runs.'),
  apiVersion: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/)
    .default('2022-11-28')
    .describe('X-GitHub-Api-Version of every request.'),
  markers: z
    .boolean()
    .default(true)
    .describe(
      'End created issues, comments and reviews with a hidden HTML comment, by which they are found again when the answer is lost. Without it their outcome stays unknown.',
    ),
  reconcile: z
    .strictObject({
      authoritativeAfterSecs: z
        .int()
        .min(30)
        .max(604_800)
        .describe('How long GitHub may still execute a request whose response was lost.'),
    })
    .optional()
    .describe(
      'Settles an issue, comment or review with an unknown outcome as not executed if its marker is not found after this time. Risk: if GitHub shows it later, a repeat creates it again. Default: it stays unknown until it is found or an operator settles it.',
    ),
  pacing: pacing.default({}).describe('GitHub’s documented limits, where they differ.'),
  trustedOrigins: z
    .array(httpUrl)
    .default([])
    .describe('Origins with private addresses that GitHub redirects to, such as a log storage.'),
  ...commonSettings({ toolTimeoutSecs: 55, attemptTimeoutSecs: 20, maxRetries: 3 }),
});

export type GitHubConfig = z.output<typeof configSchema>;

const VARIABLES = {
  settings: { baseUrl: 'TOOLKEEL_GITHUB_BASE_URL' },
  secrets: { token: 'TOOLKEEL_GITHUB_TOKEN' },
  timeout: ['GITHUB_MCP_TOOL_TIMEOUT_SECS'],
} as const;

/** Settings of `packs.github` from environment variables. They override the file; flags override them. */
export function configFromEnvironment(env: Environment): z.input<typeof configSchema> {
  return settingsFromEnvironment(env, VARIABLES);
}

export const isConfigured = ({ token, app }: GitHubConfig): boolean =>
  token !== undefined || app !== undefined;

/** Reads the token. Throws a `ConfigError` that names what to set. */
export function readToken({ token }: GitHubConfig, env: Environment): string {
  if (!token)
    throw new ConfigError(
      'No GitHub credential is configured: set TOOLKEEL_GITHUB_TOKEN, packs.github.token or packs.github.app.',
    );
  const value = readSecret(token, 'packs.github.token', env);
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new ConfigError(
    'packs.github.token: contains whitespace or characters that are invalid in a token',
  );
}
