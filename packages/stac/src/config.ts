import * as z from 'zod';
import { readFileSync, statSync } from 'node:fs';

/** Names of parameters whose value nobody else should know. */
const KEY_NAME =
  /(^|[-_.])(api|access|auth|client|app)?(key|token|secret|password|passwd|pwd|auth|credentials?|sig|signature)$/;

function isKeyName(name: string): boolean {
  return KEY_NAME.test(name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase());
}

const NO_CREDENTIAL =
  'holds a credential, and an address is shown to callers: send it by `headers`, such as { "Authorization": { "env": "NAME", "prefix": "Bearer " } }';

const httpUrl = z
  .url({ protocol: /^https?$/ })
  .refine((href) => !holdsCredential(href), { error: NO_CREDENTIAL });

function holdsCredential(href: string): boolean {
  if (!URL.canParse(href)) return false;
  const { username, password, searchParams } = new URL(href);
  const isKey = ([name, value]: [string, string]) => value !== '' && isKeyName(name);
  return username !== '' || password !== '' || [...searchParams].some(isKey);
}

/** A value in the open, or where a secret is kept: a variable of the environment or a file. */
const secret = z.union([
  z.string(),
  z.strictObject({ env: z.string().min(1), prefix: z.string().optional() }),
  z.strictObject({ file: z.string().min(1), prefix: z.string().optional() }),
]);

/** A record says only that a key is wrong, not what a right one is. */
const keyError = (message: string) => ({
  error: ({ code }: { readonly code?: string | undefined }) =>
    code === 'invalid_key' ? message : undefined,
});

const headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~\w-]+$/),
  secret,
  keyError('is no name for a header'),
);

const catalog = z.strictObject({
  url: httpUrl.describe('The landing page. It may be private: you named it.'),
  title: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('What the catalogue contains. Models read it in the instructions of the server.'),
  headers: headers
    .optional()
    .describe('Sent to the origin of `url` and to no other, e.g. Authorization.'),
  trustedOrigins: z
    .array(httpUrl)
    .optional()
    .describe('Further origins of this catalogue, such as its asset store. They may be private.'),
  signing: z
    .strictObject({
      tokenUrl: httpUrl.describe('Gives tokens at {tokenUrl}/{account}/{container}.'),
      openAccounts: z.array(z.string()).optional(),
      subscriptionKey: secret.optional(),
    })
    .optional()
    .describe(
      'Short-lived tokens for assets in Azure blob storage, as Planetary Computer has them.',
    ),
});

const settings = z.strictObject({
  defaultCatalog: z.string().optional().describe('Default: earth-search.'),
  catalogs: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
      catalog,
      keyError(
        'is no name for a catalogue: small letters, digits, ".", "_" and "-", beginning with a letter or digit, 64 at most',
      ),
    )
    .default({}),
  builtinCatalogs: z
    .boolean()
    .default(true)
    .describe('Whether earth-search and planetary-computer are there without being named.'),
  allowCatalogUrl: z
    .boolean()
    .default(true)
    .describe('Whether a call may name a public catalogue by its address.'),
  toolTimeoutSecs: z.number().positive().max(3600).default(15),
  attemptTimeoutSecs: z.number().positive().max(3600).default(6),
  maxRetries: z.int().min(0).max(5).default(2),
  hedge: z.boolean().default(false).describe('A second request beside one that is slow.'),
  maxResponseBytes: z
    .int()
    .min(65_536)
    .max(268_435_456)
    .default(8_388_608)
    .describe('The largest answer of a catalogue that is read.'),
});

/** `packs.stac` of the configuration. */
export const configSchema = settings.check(({ value, issues }) => {
  const names = Object.keys(catalogsOf(value));
  const { defaultCatalog } = value;
  const refuse = (path: string, message: string) =>
    issues.push({ code: 'custom', path: [path], message, input: value });
  if (names.length === 0) refuse('catalogs', 'names no catalogue, and `builtinCatalogs` is off');
  else if (defaultCatalog !== undefined && !names.includes(defaultCatalog)) {
    refuse('defaultCatalog', `must be a catalogue that there is: ${names.join(', ')}`);
  }
});

export type StacConfig = z.output<typeof configSchema>;
export type CatalogConfig = z.output<typeof catalog>;
type SecretSource = z.output<typeof secret>;

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

/** All catalogues: those that are there without being named, and what was said of them and others. */
export function catalogsOf({
  builtinCatalogs: hasBuiltin,
  catalogs,
}: Pick<StacConfig, 'builtinCatalogs' | 'catalogs'>): Readonly<Record<string, CatalogConfig>> {
  return { ...(hasBuiltin ? builtinCatalogs : {}), ...catalogs };
}

const DEFAULT_CATALOG = 'earth-search';

/** The catalogue of a call that names none. */
export function defaultCatalogOf(config: StacConfig): string {
  const names = Object.keys(catalogsOf(config));
  return config.defaultCatalog ?? names.find((name) => name === DEFAULT_CATALOG) ?? names[0]!;
}

/** What the environment says about `packs.stac`; it goes over the file and under the flags. */
export function configFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): z.input<typeof configSchema> {
  const url = env['TOOLKEEL_STAC_URL'];
  const seconds = env['STAC_MCP_TOOL_TIMEOUT_SECS'] ?? env['TOOLKEEL_TOOL_TIMEOUT_SECS'];
  return {
    ...(url && { catalogs: { default: { url } }, defaultCatalog: 'default' }),
    // A value that is no number is refused by the schema, which names it.
    ...(seconds && { toolTimeoutSecs: Number(seconds) }),
  };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that cannot be used. Its message names the setting, never a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads a secret from where the configuration says it is kept. */
export function readSecret(source: SecretSource, setting: string, env: Environment): string {
  const value = typeof source === 'string' ? source : stored(source, setting, env);
  if (/[\r\n\0]/.test(value)) throw new ConfigError(`${setting}: contains a line break`);
  return value;
}

function stored(source: Exclude<SecretSource, string>, setting: string, env: Environment): string {
  const value = 'env' in source ? env[source.env] : readSecretFile(source.file, setting);
  if (value === undefined || value === '') {
    const where = 'env' in source ? `the variable ${source.env}` : `the file ${source.file}`;
    throw new ConfigError(`${setting}: ${where} is empty or not there`);
  }
  return `${source.prefix ?? ''}${value}`;
}

function readSecretFile(path: string, setting: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  // Windows has no such bits.
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    throw new ConfigError(`${setting}: ${path} can be read by others; set its mode to 600`);
  }
  return readFileSync(path, 'utf8').trim();
}
