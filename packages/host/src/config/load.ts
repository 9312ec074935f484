import { dirname, resolve } from 'node:path';
import type { Pack } from '@toolkeel/contract';
import { presets } from '@toolkeel/kernel/policy';
import type { PackEntry } from '../catalog/loaded-pack.js';
import type { HostOptions } from '../host.js';
import type { HttpOptions } from '../http/serve.js';
import { Secret } from '../secret/secret.js';
import { Secrets } from '../secret/secrets.js';
import { acceptedOverride, type ApprovalOverride } from './approval-override.js';
import { ConfigError, type ConfigIssue } from './config-error.js';
import { defaultDataDir } from './data-dir.js';
import { environmentLayer, type Environment } from './environment.js';
import { explainIssue } from './explain.js';
import { CONFIG_FILE, findFile, readConfigFile, type FileOptions } from './file.js';
import {
  clearSecretsIn,
  credentialsIn,
  findSecrets,
  readSource,
  type Credential,
} from './find-secrets.js';
import { isObject, mergeLayers, type JsonObject, type Layer, type Merged } from './layers.js';
import { packLayer } from './pack-layer.js';
import { pointerOf, type Path } from './pointer.js';
import { hostOptionsOf, httpOptionsOf } from './options.js';
import { configSchema, type Config, type SchemaOptions } from './schema.js';
import type { SecretSource } from './secret-source.js';

/** A pack, and how it is configured beside the file. */
export interface PackBinding {
  readonly pack: Pack;
  /** What the environment says of this pack, in the shape of its configuration. */
  readonly fromEnvironment?: (env: Environment) => unknown;
  /** Its retry preset: the cap of a call comes from there, where nobody says otherwise. */
  readonly preset?: keyof typeof presets;
  /** Where it keeps what is its own in the data directory, given what else was said of it. */
  readonly keptIn?: (dataDir: string, said: JsonObject) => JsonObject;
}

export interface LoadOptions extends FileOptions, Pick<SchemaOptions, 'sections' | 'otherPacks'> {
  readonly packs?: readonly PackBinding[];
  /**
   * The settings of packs, by their names, instead of what file and environment say of any upstream:
   * nothing of that is read, and no credential either.
   */
  readonly packSettings?: JsonObject;
  /** What was said on the command line, in the shape of the file. */
  readonly flags?: JsonObject;
  /** Accepts a flag or a variable that makes the server ask for fewer approvals than is configured. */
  readonly withoutApproval?: boolean;
  /** The members of the file that matter here. The others are not read, nor is any secret of theirs. */
  readonly only?: readonly string[];
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file that was read, if there was one. */
  readonly file: string | undefined;
  /** Everything that must not be said aloud. */
  readonly secrets: Secrets;
  readonly httpToken: Secret | undefined;
  readonly journalUrl: Secret | undefined;
  /** Whom to tell of what waits for a person. */
  readonly notify: NotifySettings;
  /** For mistakes that only show when the configuration is held against the tools that there are. */
  readonly mistakes: (found: readonly Mistake[]) => ConfigError;
  /** Set where the server asks for fewer approvals than is configured, which the operator accepted. */
  readonly approvalOverride: ApprovalOverride | undefined;
  /** The secrets that it leads to, without what they are. */
  readonly credentials: readonly Credential[];
  /** Where an installation keeps what outlives a process. It need not be there yet. */
  readonly dataDir: string;
  /** For `createHost`: a pack with its settings and its cap. */
  readonly packEntry: (name: string) => PackEntry;
  /** For `createHost`, beside packs and log. */
  readonly hostOptions: Pick<HostOptions, 'profile' | 'callTimeoutMs' | 'byteBudget' | 'scrub'>;
  /** For `host.listen`. */
  readonly httpOptions: HttpOptions;
}

export interface NotifySettings {
  readonly webhook?: { readonly url: Secret; readonly token?: Secret };
  readonly command?: readonly string[];
}

export interface Mistake {
  readonly path: Path;
  readonly message: string;
}

/** Reads the configuration: flags over environment over file over defaults. */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const { packs = [], env = process.env, packSettings } = options;
  const file = findFile(options);
  const said = onlySome(fileLayer(file, options.otherPacks), options.only);
  const inUse = packSettings ? withoutUpstreams(said) : said;
  const layers = [
    inUse,
    environmentLayer(env),
    ...(packSettings ? [settingsLayer(packSettings)] : packs.map((one) => packLayer(one, env))),
    ...(options.flags ? [flagLayer(options.flags)] : []),
  ];
  const merged = mergeLayers(layers);
  const secrets = new Secrets();
  const schema = configSchema({
    packs: packs.map(({ pack }) => pack),
    ...schemaOptionsOf(options),
  });
  const effective = findSecrets(merged.values, env, secrets, merged.originOf, schema);
  const overridden = clearSecretsIn(inUse, secrets, schema).filter(
    ({ pointer }) => !effective.some((one) => one.pointer === pointer),
  );
  const issues = [...effective, ...overridden];
  const config = check(merged, schema, issues);
  const approvalOverride = acceptedOverride(layers, {
    withoutApproval: options.withoutApproval === true,
    isSandbox: packSettings !== undefined,
  });

  const secretAt: SecretAt = (name, source) => {
    if (source === undefined) return undefined;
    if (typeof source === 'string') return new Secret(name, source);
    const read = readSource(source, env);
    return read.ok ? secrets.add(name, `${source.prefix ?? ''}${read.value}`) : undefined;
  };
  const httpToken = secretAt('http.token', config.http.token);
  const dataDir = dataDirOf(config, merged, file, options);
  return {
    config,
    file,
    secrets,
    httpToken,
    approvalOverride,
    credentials: credentialsIn(merged.values),
    dataDir,
    hostOptions: hostOptionsOf(config, secrets),
    httpOptions: httpOptionsOf(
      config,
      httpToken,
      secretAt('http.metricsToken', config.http.metricsToken),
    ),
    journalUrl: secretAt('journal.url', config.journal.url),
    notify: notifyOf(config, secretAt),
    mistakes: (found) => new ConfigError(found.map((one) => issueOf(one, merged))),
    packEntry: (name) => {
      const binding = packs.find(({ pack }) => pack.name === name);
      if (!binding) throw new TypeError(`no pack is called ${name}`);
      const kept = (given: JsonObject) =>
        packSettings ? {} : (binding.keptIn?.(dataDir, given) ?? {});
      return packEntry(binding, merged.values, config, { env, flags: options.flags ?? {}, kept });
    },
  };
}

type SecretAt = (name: string, source: string | SecretSource | undefined) => Secret | undefined;

function notifyOf({ notify = {} }: Config, secretAt: SecretAt): NotifySettings {
  const { webhook, command } = notify;
  const url = secretAt('notify.webhook.url', webhook?.url);
  const token = secretAt('notify.webhook.token', webhook?.token);
  return {
    ...(url && { webhook: { url, ...(token && { token }) } }),
    ...(command && { command }),
  };
}

function issueOf({ path, message }: Mistake, { originOf }: Merged): ConfigIssue {
  return { origin: originOf(path), pointer: pointerOf(path), message };
}

function schemaOptionsOf({ sections, otherPacks }: LoadOptions): SchemaOptions {
  return { ...(sections && { sections }), ...(otherPacks && { otherPacks }) };
}

/** What the file says is meant from where the file is, whoever starts us from wherever. */
function dataDirOf(
  { dataDir }: Config,
  { originOf }: Merged,
  file: string | undefined,
  { env = process.env, cwd = process.cwd() }: FileOptions,
): string {
  if (dataDir === undefined) return defaultDataDir(env);
  const isOfFile = file !== undefined && originOf(['dataDir']) === file;
  return resolve(isOfFile ? dirname(file) : cwd, dataDir);
}

/** What is said of packs that are not in use is left out: a secret of theirs need not be there. */
function fileLayer(file: string | undefined, otherPacks: readonly string[] = []): Layer {
  const { packs, ...rest } = readConfigFile(file);
  const used = isObject(packs)
    ? Object.fromEntries(Object.entries(packs).filter(([name]) => !otherPacks.includes(name)))
    : packs;
  return {
    values: { ...rest, ...(used !== undefined && { packs: used }) },
    originOf: () => file ?? CONFIG_FILE,
  };
}

function onlySome({ values, originOf }: Layer, only: readonly string[] | undefined): Layer {
  if (!only) return { values, originOf };
  const kept = Object.entries(values).filter(([name]) => only.includes(name));
  return { values: Object.fromEntries(kept), originOf };
}

/** Nor anybody who would be told of what happens: it did not happen for real. */
function withoutUpstreams({ values, originOf }: Layer): Layer {
  const { packs: _packs, upstreams: _upstreams, notify: _notify, ...rest } = values;
  return { values: rest, originOf };
}

function settingsLayer(packs: JsonObject): Layer {
  return { values: { packs }, originOf: () => 'the settings of packs' };
}

function flagLayer(flags: JsonObject): Layer {
  const originOf: Layer['originOf'] = (path) => `--${path.map(String).map(kebab).join('-')}`;
  return { values: flags, originOf };
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function check(
  merged: Merged,
  schema: ReturnType<typeof configSchema>,
  found: readonly ConfigIssue[],
): Config {
  const parsed = schema.safeParse(merged.values, { reportInput: true });
  if (parsed.success && found.length === 0) return parsed.data;
  const refused = (parsed.error?.issues ?? [])
    .flatMap((issue) => explainIssue(schema, issue))
    .map((one) => issueOf(one, merged))
    // A secret in the open is one mistake, also where no text is expected at all.
    .filter(({ pointer }) => !found.some((one) => one.pointer === pointer));
  throw new ConfigError([...found, ...refused]);
}

interface PackSurroundings {
  readonly env: Environment;
  readonly flags: JsonObject;
  readonly kept: (said: JsonObject) => JsonObject;
}

function packEntry(
  { pack, preset }: PackBinding,
  values: JsonObject,
  config: Config,
  { env, flags, kept }: PackSurroundings,
): PackEntry {
  const { packs } = values;
  const given =
    isObject(packs) && isObject(packs[pack.name]) ? (packs[pack.name] as JsonObject) : {};
  const raw = { ...kept(given), ...given };
  const parsed = config.packs[pack.name] ?? pack.configSchema.safeParse(raw).data;
  const own = isObject(parsed) ? parsed['toolTimeoutSecs'] : undefined;
  const said =
    positive(flags['toolTimeoutSecs']) ??
    positive(env[`${pack.name.toUpperCase()}_MCP_TOOL_TIMEOUT_SECS`]) ??
    positive(env['TOOLKEEL_TOOL_TIMEOUT_SECS']) ??
    positive(raw['toolTimeoutSecs']) ??
    config.toolTimeoutSecs;
  const policy = preset && { ...presets[preset], ...config.policies[preset] };
  const secs = said ?? positive(own);
  const callTimeoutMs = secs === undefined ? policy?.callTimeoutMs : secs * 1000;
  return {
    pack,
    // A pack that knows the cap is told the one that holds.
    config: own !== undefined && said !== undefined ? { ...raw, toolTimeoutSecs: said } : raw,
    ...(callTimeoutMs !== undefined && { callTimeoutMs }),
  };
}

function positive(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && number > 0 ? number : undefined;
}
