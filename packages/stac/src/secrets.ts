import { readFileSync, statSync } from 'node:fs';
import type { SecretSource } from './config.js';

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
