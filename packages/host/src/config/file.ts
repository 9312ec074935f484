import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from './config-error.js';
import type { Environment } from './environment.js';
import { isObject, type JsonObject } from './layers.js';
import { parseJson } from './parse-json.js';
import { isSecretSource } from './secret-source.js';

export const CONFIG_FILE = 'toolkeel.config.json';

export interface FileOptions {
  /** Default: that of the process. */
  readonly env?: Environment;
  /** Named on the command line. Default: `TOOLKEEL_CONFIG`, else the file in `cwd` if there is one. */
  readonly file?: string;
  readonly cwd?: string;
}

/** A file that was named must be there; the usual one may be missing. */
export function findFile(options: FileOptions): string | undefined {
  const { env = process.env, cwd = process.cwd() } = options;
  const fromEnv = env['TOOLKEEL_CONFIG'];
  const named = options.file ?? (fromEnv === '' ? undefined : fromEnv);
  const path = resolve(cwd, named ?? CONFIG_FILE);
  if (existsSync(path)) return path;
  if (named === undefined) return undefined;
  throw new ConfigError([{ origin: path, pointer: '', message: 'there is no such file' }]);
}

export function readConfigFile(file: string | undefined): JsonObject {
  if (file === undefined) return {};
  const parsed = parseJson(textOf(file));
  if (!parsed.ok) throw new ConfigError([{ origin: file, pointer: '', message: parsed.reason }]);
  if (!isObject(parsed.value)) {
    throw new ConfigError([{ origin: file, pointer: '', message: 'must hold an object' }]);
  }
  return parsed.value;
}

/** Which packs the file speaks of: they can be loaded before the whole of it is read and checked. */
export function configuredPacks(options: FileOptions = {}): readonly string[] {
  const { packs } = readConfigFile(findFile(options));
  return isObject(packs) ? Object.keys(packs) : [];
}

/** What the file says of a pack, without where its secrets are: enough to estimate, and not to act. */
export function settingsWithoutSecrets(pack: string, options: FileOptions = {}): JsonObject {
  const { packs } = readConfigFile(findFile(options));
  const settings = isObject(packs) ? packs[pack] : undefined;
  return isObject(settings) ? withoutSecrets(settings) : {};
}

function withoutSecrets(settings: JsonObject): JsonObject {
  const open = Object.entries(settings).filter(([, value]) => !isSecretSource(value));
  return Object.fromEntries(
    open.map(([name, value]) => [name, isObject(value) ? withoutSecrets(value) : value]),
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    throw new ConfigError([{ origin: file, pointer: '', message: `cannot be read${why}` }]);
  }
}
