import { readFileSync, statSync, type Stats } from 'node:fs';
import * as z from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

const prefix = z.string().optional().describe('Prepended to the value, e.g. "Bearer ".');

/** Where a secret is stored. The configuration itself never contains a secret. */
export const secretSource = z.union(
  [
    z.strictObject({ env: z.string().min(1).describe('An environment variable.'), prefix }),
    z.strictObject({ file: z.string().min(1).describe('A file with mode 600.'), prefix }),
  ],
  {
    error: ({ input }) =>
      input === undefined
        ? 'is required: { "env": "NAME" } or { "file": "PATH" }'
        : 'must be { "env": "NAME" } or { "file": "PATH" }, not the secret itself',
  },
);

export type SecretSource = z.output<typeof secretSource>;

/** An unusable setting. The message names the setting, never its value. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
}

/**
 * Reads a secret with its prefix, to be sent in a header. A pack whose schema accepts literal values may
 * pass one. Throws a `ConfigError` that names the setting.
 */
export function readSecret(
  source: SecretSource | string,
  setting: string,
  env: Environment,
): string {
  const value = typeof source === 'string' ? source : storedSecret(source, setting, env);
  if (/^[\x20-\x7e\x80-\xff]*$/.test(value)) return value;
  throw new ConfigError(`${setting}: contains characters that are invalid in a header`);
}

function storedSecret(source: SecretSource, setting: string, env: Environment): string {
  const [where, value] =
    'env' in source
      ? [`the variable ${source.env}`, env[source.env]]
      : [`the file ${source.file}`, readPrivateFile(source.file, setting)];
  const secret = value?.trim() ?? '';
  if (secret === '') throw new ConfigError(`${setting}: ${where} is empty or does not exist`);
  return `${source.prefix ?? ''}${secret}`;
}

function readPrivateFile(path: string, setting: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  requirePrivateFile(path, stat, setting);
  return readFileSync(path, 'utf8');
}

export function requirePrivateFile(path: string, stat: Stats, setting: string): void {
  const problem = privateFileProblem(path, stat);
  if (problem !== undefined) throw new ConfigError(`${setting}: ${problem}`);
}

/** Why a file must not hold a secret; undefined if it may. */
export function privateFileProblem(path: string, stat: Stats): string | undefined {
  if (stat.isDirectory()) return `${path} is a folder; specify a file`;
  // Windows has no permission bits.
  if (process.platform === 'win32' || (stat.mode & 0o077) === 0) return undefined;
  const mode = (stat.mode & 0o777).toString(8);
  return `${path} has mode ${mode} and is readable by other users; set its mode to 600`;
}
