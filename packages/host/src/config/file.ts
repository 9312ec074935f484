import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { ConfigError } from '../errors.js';
import { isObject, pointerOf, type Environment, type JsonObject } from './layers.js';
import { isSecretSource } from './schema.js';

export const CONFIG_FILE = 'toolkeel.config.json';

export interface FileOptions {
  /** Default: `process.env`. */
  readonly env?: Environment;
  /** From the command line. Default: `TOOLKEEL_CONFIG`, else `toolkeel.config.json` in `cwd` if it exists. */
  readonly file?: string;
  readonly cwd?: string;
}

/** The path of the configuration file. An explicitly named file must exist; the default file is optional. */
export function findFile(options: FileOptions): string | undefined {
  const { env = process.env, cwd = process.cwd() } = options;
  const fromEnv = env['TOOLKEEL_CONFIG'];
  const named = options.file ?? (fromEnv === '' ? undefined : fromEnv);
  const path = resolve(cwd, named ?? CONFIG_FILE);
  if (existsSync(path)) return path;
  if (named === undefined) return undefined;
  throw fileError(path, 'there is no such file');
}

export function readConfigFile(file: string | undefined): JsonObject {
  if (file === undefined) return {};
  const value = parseJson(file, readText(file));
  if (!isObject(value)) throw fileError(file, 'must contain a JSON object');
  return value;
}

export interface ConfiguredPack {
  readonly name: string;
  /** The module of a pack that is not built in, as written in the file. */
  readonly module?: string;
}

/** The packs in the file, so that they can be loaded before the file is validated. */
export function configuredPacks(options: FileOptions = {}): {
  readonly file: string | undefined;
  readonly packs: readonly ConfiguredPack[];
} {
  const file = findFile(options);
  const { packs } = readConfigFile(file);
  const entries = Object.entries(isObject(packs) ? packs : {});
  return { file, packs: entries.map(([name, given]) => configuredPack(name, given, file ?? '')) };
}

function configuredPack(name: string, settings: unknown, origin: string): ConfiguredPack {
  if (!isObject(settings) || settings['module'] === undefined) return { name };
  const { module } = settings;
  if (typeof module === 'string' && module.trim() !== '') return { name, module };
  const message = 'must be a file such as "./tickets.js", or the name of a package';
  throw new ConfigError([{ origin, pointer: pointerOf(['packs', name, 'module']), message }]);
}

/** The settings of a pack in the file, and the same without their secret sources. */
export function packSettings(
  pack: string,
  options: FileOptions = {},
): { readonly settings: JsonObject; readonly withoutSecrets: JsonObject } {
  const { packs } = readConfigFile(findFile(options));
  const section = isObject(packs) ? packs[pack] : undefined;
  if (!isObject(section)) return { settings: {}, withoutSecrets: {} };
  // These members are for the host.
  const { module: _module, tools: _tools, ...settings } = section;
  return { settings, withoutSecrets: withoutSecrets(settings) };
}

function withoutSecrets(settings: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => !isSecretSource(value))
      .map(([name, value]) => [name, isObject(value) ? withoutSecrets(value) : value]),
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    throw fileError(file, `cannot be read${code}`);
  }
}

/** The error has the position of the mistake, but none of the text, which may contain a secret. */
function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    const at = /at position (\d+)/.exec(message)?.[1];
    const offset = at === undefined ? text.length : Number(at);
    const before = text.slice(0, offset).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    throw fileError(file, `is not valid JSON: line ${before.length}, column ${column}`);
  }
}

function fileError(file: string, message: string): ConfigError {
  return new ConfigError([{ origin: file, pointer: '', message }]);
}

/** The directory for persistent data, where the configuration does not set `dataDir`. */
export function defaultDataDir(
  env: Environment,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): string {
  return join(platformDataDir(env, platform, home), 'toolkeel');
}

function platformDataDir(env: Environment, platform: NodeJS.Platform, home: string): string {
  if (platform === 'win32') return env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  // The XDG Base Directory Specification requires relative paths to be ignored.
  const xdgDataHome = env['XDG_DATA_HOME'] ?? '';
  return isAbsolute(xdgDataHome) ? xdgDataHome : join(home, '.local', 'share');
}
