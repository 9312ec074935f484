import { dirname, resolve } from 'node:path';
import { zodType, type Pack } from '@toolkeel/contract';
import type { presets } from '@toolkeel/kernel/policy';
import type { PackEntry } from '../catalog/loaded-pack.js';
import { ConfigError, type ConfigIssue } from '../errors.js';
import type { HostOptions } from '../host.js';
import type { HttpOptions } from '../http/serve.js';
import { Secret, Secrets } from '../secret/secrets.js';
import { acceptedOverride, type ApprovalOverride } from './approval-override.js';
import { explainIssue, type Mistake } from './explain.js';
import { CONFIG_FILE, defaultDataDir, findFile, readConfigFile, type FileOptions } from './file.js';
import {
  credentialsIn,
  findSecrets,
  plainSecretsIn,
  readSource,
  type Credential,
} from './find-secrets.js';
import {
  environmentLayer,
  isObject,
  mergeLayers,
  packLayer,
  pointerOf,
  type Environment,
  type JsonObject,
  type Layer,
} from './layers.js';
import {
  hostOptionsOf,
  httpOptionsOf,
  notifySettingsOf,
  packEntryOf,
  type NotifySettings,
  type ResolveSecret,
} from './options.js';
import { configSchema, type Config, type SchemaOptions } from './schema.js';
import { excludedTools, takeToolFilters } from './tool-filter.js';

/** A pack, and its sources of settings besides the file. */
export interface PackBinding {
  readonly pack: Pack;
  /** The settings of this pack from environment variables, in the shape of its configuration. */
  readonly fromEnvironment?: (env: Environment) => unknown;
  /** The retry preset that sets the time limit of a call by default. */
  readonly preset?: keyof typeof presets;
  /** Settings that name files of the pack in the data directory, given its other settings. */
  readonly keptIn?: (dataDir: string, settings: JsonObject) => JsonObject;
  /** Whether the operator named the module of the pack: `module` in its section is not its setting. */
  readonly isModule?: boolean;
}

export interface LoadOptions extends FileOptions, Pick<SchemaOptions, 'sections' | 'otherPacks'> {
  readonly packs?: readonly PackBinding[];
  /**
   * Settings by pack name that replace those of the file and the environment, for a sandbox: no other
   * setting of a pack or an upstream is read, and no credential.
   */
  readonly packSettings?: JsonObject;
  /** Settings of the program, in the shape of the file, which overrides them. */
  readonly settings?: JsonObject;
  /** From the command line, in the shape of the file. */
  readonly flags?: JsonObject;
  /** Accepts a flag or variable that requires fewer approvals than the configuration. */
  readonly withoutApproval?: boolean;
  /** Reads only these members of the file, and only their secrets. */
  readonly only?: readonly string[];
}

export interface LoadedConfig {
  readonly config: Config;
  /** The configuration file, if one was read. */
  readonly file: string | undefined;
  /** All known secrets, for redaction. */
  readonly secrets: Secrets;
  readonly httpToken: Secret | undefined;
  readonly journalUrl: Secret | undefined;
  readonly notify: NotifySettings;
  /** Creates the error for mistakes that only validation against the registered tools can find. */
  readonly errorFor: (mistakes: readonly Mistake[]) => ConfigError;
  /** Set if the operator accepted that the server requires fewer approvals than configured. */
  readonly approvalOverride: ApprovalOverride | undefined;
  /** The secrets that the configuration refers to, without their values. */
  readonly credentials: readonly Credential[];
  /** The tools that the operator excludes by `packs.<name>.tools`. */
  readonly excludedTools: ReadonlySet<string>;
  /** The directory for persistent data. It may not exist yet. */
  readonly dataDir: string;
  /** For `createHost`: a pack with its settings and the time limit of its calls. */
  readonly packEntry: (name: string) => PackEntry;
  /** For `createHost`. */
  readonly hostOptions: Pick<HostOptions, 'profile' | 'callTimeoutMs' | 'byteBudget' | 'scrub'>;
  /** For `host.listen`. */
  readonly httpOptions: HttpOptions;
}

/** Loads and validates the configuration. Precedence: flags, environment, file, program, defaults. */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const { packs = [], env = process.env, packSettings, flags = {} } = options;
  const file = findFile(options);
  const { layer: wholeFile, filters } = takeToolFilters(
    selectMembers(fileLayer(file, packs, options.otherPacks), options.only),
  );
  const base = packSettings ? withoutUpstreams(wholeFile) : wholeFile;
  const layers = [
    ...(options.settings ? [programLayer(options.settings, base)] : []),
    base,
    environmentLayer(env),
    ...(packSettings ? [sandboxLayer(packSettings)] : packs.map((one) => packLayer(one, env))),
    flagLayer(flags),
  ];
  const merged = mergeLayers(layers);
  const secrets = new Secrets();
  const { sections, otherPacks } = options;
  const schema = configSchema({
    packs: packs.map(({ pack }) => pack),
    ...(sections && { sections }),
    ...(otherPacks && { otherPacks }),
  });
  const effective = findSecrets(
    withoutDisabled(merged.values),
    env,
    secrets,
    merged.originOf,
    schema,
  );
  const overridden = plainSecretsIn(base, secrets, schema).filter(
    ({ pointer }) => !effective.some((issue) => issue.pointer === pointer),
  );
  const filtered = packs.flatMap(({ pack }) =>
    filters.has(pack.name) ? [excludedTools(pack, filters.get(pack.name))] : [],
  );
  const filterIssues = filtered
    .flatMap(({ mistakes }) => mistakes)
    .map((mistake) => issueOf(mistake, wholeFile));
  const config = validate(merged, schema, [...effective, ...overridden, ...filterIssues]);
  const excluded = new Set(filtered.flatMap((one) => one.excluded));
  const approvalOverride = acceptedOverride(layers, {
    withoutApproval: options.withoutApproval === true,
    isSandbox: packSettings !== undefined,
  });

  const resolveSecret: ResolveSecret = (name, source) => {
    if (source === undefined) return undefined;
    if (typeof source === 'string') return new Secret(name, source);
    const read = readSource(source, env);
    return read.ok ? secrets.add(name, `${source.prefix ?? ''}${read.value}`) : undefined;
  };
  const httpToken = resolveSecret('http.token', config.http.token);
  const metricsToken = resolveSecret('http.metricsToken', config.http.metricsToken);
  const dataDir = dataDirOf(config, merged, file, options);
  return {
    config,
    file,
    secrets,
    httpToken,
    approvalOverride,
    credentials: credentialsIn(withoutDisabled(merged.values)),
    dataDir,
    excludedTools: excluded,
    hostOptions: hostOptionsOf(config, secrets),
    httpOptions: httpOptionsOf(config, httpToken, metricsToken),
    journalUrl: resolveSecret('journal.url', config.journal.url),
    notify: notifySettingsOf(config, resolveSecret),
    errorFor: (mistakes) => new ConfigError(mistakes.map((one) => issueOf(one, merged))),
    packEntry: (name) => {
      const binding = packs.find(({ pack }) => pack.name === name);
      if (!binding) throw new TypeError(`no pack is called ${name}`);
      const dataDirSettings = (settings: JsonObject) =>
        packSettings ? {} : (binding.keptIn?.(dataDir, settings) ?? {});
      const { values } = merged;
      const entry = packEntryOf(binding, { values, config, env, flags, dataDirSettings });
      if (config.packs[name] === undefined)
        requireOptionalSection(binding.pack, entry.config, merged);
      return { ...entry, excluded };
    },
  };
}

/** Throws if a pack without a section in the configuration requires settings. */
function requireOptionalSection(
  { name, configSchema: schema }: Pack,
  given: unknown,
  merged: Layer,
) {
  const { error } = zodType(schema).safeParse(given, { reportInput: true });
  if (!error) return;
  const path = ['packs', name];
  const missing = error.issues
    .flatMap((issue) => explainIssue(zodType(schema), issue))
    .map((mistake) => ({ ...mistake, path: [...path, ...mistake.path] }));
  const summary = { path, message: 'is missing; the pack requires these settings:' };
  throw new ConfigError([summary, ...missing].map((mistake) => issueOf(mistake, merged)));
}

function issueOf({ path, message }: Mistake, { originOf }: Layer): ConfigIssue {
  return { origin: originOf(path), pointer: pointerOf(path), message };
}

/** A relative path in the file is relative to the file; any other, to the working directory. */
function dataDirOf(
  { dataDir }: Config,
  { originOf }: Layer,
  file: string | undefined,
  { env = process.env, cwd = process.cwd() }: FileOptions,
): string {
  if (dataDir === undefined) return defaultDataDir(env);
  const isFromFile = file !== undefined && originOf(['dataDir']) === file;
  return resolve(isFromFile ? dirname(file) : cwd, dataDir);
}

/** Leaves out packs that are not in use: their secrets need not exist. */
function fileLayer(
  file: string | undefined,
  bindings: readonly PackBinding[],
  otherPacks: readonly string[] = [],
): Layer {
  const { packs, ...rest } = readConfigFile(file);
  const isModule = (name: string) => bindings.some((one) => one.isModule && one.pack.name === name);
  const used = isObject(packs)
    ? Object.fromEntries(
        Object.entries(packs)
          .filter(([name]) => !otherPacks.includes(name))
          .map(([name, given]) => [name, isModule(name) ? withoutModule(given) : given]),
      )
    : packs;
  return {
    values: { ...rest, ...(used !== undefined && { packs: used }) },
    originOf: () => file ?? CONFIG_FILE,
  };
}

function withoutModule(settings: unknown): unknown {
  if (!isObject(settings)) return settings;
  const { module: _, ...rest } = settings;
  return rest;
}

function selectMembers({ values, originOf }: Layer, names: readonly string[] | undefined): Layer {
  if (!names) return { values, originOf };
  const selected = Object.entries(values).filter(([name]) => names.includes(name));
  return { values: Object.fromEntries(selected), originOf };
}

/** A setting that is missing everywhere belongs into the file. */
function programLayer(values: JsonObject, file: Layer): Layer {
  return { values, originOf: (path) => (path.length === 0 ? file.originOf(path) : 'the program') };
}

/** Also leaves out `notify`: events of a sandbox are not real. */
function withoutUpstreams({ values, originOf }: Layer): Layer {
  const { packs: _packs, upstreams: _upstreams, notify: _notify, ...rest } = values;
  return { values: rest, originOf };
}

/** Secrets of servers that are left out need not exist. */
function withoutDisabled({ upstreams, ...rest }: JsonObject): JsonObject {
  if (!isObject(upstreams)) return { upstreams, ...rest };
  const used = Object.entries(upstreams).filter(
    ([, given]) => !isObject(given) || given['disabled'] !== true,
  );
  return { upstreams: Object.fromEntries(used), ...rest };
}

function sandboxLayer(packs: JsonObject): Layer {
  return { values: { packs }, originOf: () => 'the sandbox settings' };
}

function flagLayer(flags: JsonObject): Layer {
  const originOf: Layer['originOf'] = (path) => `--${path.map(String).map(toKebab).join('-')}`;
  return { values: flags, originOf };
}

function toKebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function validate(
  merged: Layer,
  schema: ReturnType<typeof configSchema>,
  secretIssues: readonly ConfigIssue[],
): Config {
  const parsed = schema.safeParse(merged.values, { reportInput: true });
  if (parsed.success && secretIssues.length === 0) return parsed.data;
  const schemaIssues = (parsed.error?.issues ?? [])
    .flatMap((issue) => explainIssue(schema, issue))
    .map((mistake) => issueOf(mistake, merged))
    // A secret in plain text may also violate the schema; it is reported once.
    .filter(({ pointer }) => !secretIssues.some((issue) => issue.pointer === pointer));
  throw new ConfigError([...secretIssues, ...schemaIssues]);
}
