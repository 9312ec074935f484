import {
  commonSettings,
  httpUrl as anyHttpUrl,
  secretSource,
  settingsFromEnvironment,
  type Environment,
} from '@toolkeel/pack-kit/base';
import * as z from 'zod';

/** Names of URL parameters that hold credentials. */
const KEY_NAME =
  /(^|[-_.])(api|access|auth|client|app)?(key|token|secret|password|passwd|pwd|auth|credentials?|sig|signature)$/;

function isKeyName(name: string): boolean {
  return KEY_NAME.test(name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase());
}

const NO_CREDENTIAL =
  'contains a credential, and callers can see the URL. Use `headers` instead, such as { "Authorization": { "env": "NAME", "prefix": "Bearer " } }';

const httpUrl = anyHttpUrl.refine((href) => !holdsCredential(href), { error: NO_CREDENTIAL });

function holdsCredential(href: string): boolean {
  if (!URL.canParse(href)) return false;
  const { username, password, searchParams } = new URL(href);
  const isKey = ([name, value]: [string, string]) => value !== '' && isKeyName(name);
  return username !== '' || password !== '' || [...searchParams].some(isKey);
}

/** A literal value, or a reference to an environment variable or a file. */
const secret = z.union([z.string(), ...secretSource.options]);

/** Replaces zod's message for an invalid record key, which does not describe a valid key. */
const keyError = (message: string) => ({
  error: ({ code }: { readonly code?: string | undefined }) =>
    code === 'invalid_key' ? message : undefined,
});

const headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~\w-]+$/),
  secret,
  keyError('is not a valid header name'),
);

const catalog = z.strictObject({
  url: httpUrl.describe('The URL of the landing page. Private addresses are allowed.'),
  title: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('What the catalogue contains. Shown to the model in the server instructions.'),
  headers: headers.optional().describe('Sent only to the origin of `url`, e.g. Authorization.'),
  trustedOrigins: z
    .array(httpUrl)
    .optional()
    .describe(
      'Further origins of this catalogue, such as its asset store. Private addresses are allowed.',
    ),
  signing: z
    .strictObject({
      tokenUrl: httpUrl.describe('Tokens are read from {tokenUrl}/{account}/{container}.'),
      openAccounts: z.array(z.string()).optional(),
      subscriptionKey: secret.optional(),
    })
    .optional()
    .describe(
      'Short-lived tokens for assets in Azure Blob Storage, as Planetary Computer uses them.',
    ),
});

const settings = z.strictObject({
  defaultCatalog: z.string().optional().describe('Default: earth-search.'),
  catalogs: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
      catalog,
      keyError(
        'is not a valid catalogue name: up to 64 lowercase letters, digits, ".", "_" and "-", starting with a letter or digit',
      ),
    )
    .default({}),
  builtinCatalogs: z
    .boolean()
    .default(true)
    .describe('Whether earth-search and planetary-computer are available.'),
  allowCatalogUrl: z
    .boolean()
    .default(true)
    .describe('Whether calls may select any public catalogue by URL.'),
  ...commonSettings({ toolTimeoutSecs: 15, attemptTimeoutSecs: 6, maxRetries: 2 }),
  hedge: z
    .boolean()
    .default(false)
    .describe('Whether to send a second request when the first one is slow.'),
});

/** `packs.stac` of the configuration. */
export const configSchema = settings.check(({ value, issues }) => {
  const names = Object.keys(catalogsOf(value));
  const { defaultCatalog } = value;
  const addIssue = (path: string, message: string) =>
    issues.push({ code: 'custom', path: [path], message, input: value });
  if (names.length === 0) addIssue('catalogs', 'is empty, and `builtinCatalogs` is false');
  else if (defaultCatalog !== undefined && !names.includes(defaultCatalog)) {
    addIssue('defaultCatalog', `must be a configured catalogue: ${names.join(', ')}`);
  }
});

export type StacConfig = z.output<typeof configSchema>;
export type CatalogConfig = z.output<typeof catalog>;

const builtinCatalogs: Readonly<Record<string, CatalogConfig>> = {
  'earth-search': {
    url: 'https://earth-search.aws.element84.com/v1',
    title: 'Earth Search by Element 84: Sentinel-1 and -2, Landsat, NAIP, Copernicus DEM on AWS',
  },
  'planetary-computer': {
    url: 'https://planetarycomputer.microsoft.com/api/stac/v1',
    title:
      'Microsoft Planetary Computer: satellite, climate, elevation and land cover data; assets open with sign_assets',
    signing: {
      tokenUrl: 'https://planetarycomputer.microsoft.com/api/sas/v1/token',
      openAccounts: ['ai4edatasetspublicassets'],
    },
  },
};

/** The built-in and the configured catalogues. */
export function catalogsOf({
  builtinCatalogs: hasBuiltin,
  catalogs,
}: Pick<StacConfig, 'builtinCatalogs' | 'catalogs'>): Readonly<Record<string, CatalogConfig>> {
  return { ...(hasBuiltin ? builtinCatalogs : {}), ...catalogs };
}

const DEFAULT_CATALOG = 'earth-search';

/** The catalogue that calls without `catalog` use. */
export function defaultCatalogOf(config: StacConfig): string {
  const names = Object.keys(catalogsOf(config));
  return config.defaultCatalog ?? names.find((name) => name === DEFAULT_CATALOG) ?? names[0]!;
}

/** Settings of `packs.stac` from environment variables, which override the file. */
export function configFromEnvironment(env: Environment): z.input<typeof configSchema> {
  const url = env['TOOLKEEL_STAC_URL'];
  return {
    ...(url && { catalogs: { default: { url } }, defaultCatalog: 'default' }),
    ...settingsFromEnvironment(env, { timeout: ['STAC_MCP_TOOL_TIMEOUT_SECS'] }),
  };
}
