import { readFileSync, statSync, type Stats } from 'node:fs';
import type { SecretSource } from './config.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that cannot be used. Its message names the setting, never a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads a secret from where the configuration says it is kept. */
export function readSecret(source: SecretSource, setting: string, env: Environment): string {
  const value = 'env' in source ? env[source.env]?.trim() : readSecretFile(source.file, setting);
  if (value === undefined || value === '') {
    const where = 'env' in source ? `the variable ${source.env}` : `the file ${source.file}`;
    throw new ConfigError(`${setting}: ${where} is empty or not there`);
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new ConfigError(`${setting}: holds blanks or characters that no token has`);
  }
  return value;
}

function readSecretFile(path: string, setting: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  demandPrivate(path, stat, setting);
  return readFileSync(path, 'utf8').trim();
}

export function demandPrivate(path: string, stat: Stats, setting: string): void {
  if (stat.isDirectory()) throw new ConfigError(`${setting}: ${path} is a folder; name a file`);
  // Windows has no such bits.
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    throw new ConfigError(`${setting}: ${path} can be read by others; set its mode to 600`);
  }
}
