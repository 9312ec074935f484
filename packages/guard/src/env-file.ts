import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { LoadedConfig } from '@toolkeel/host';
import type { UpstreamConfig } from './config.js';

/** The variables in the `envFile` of a server, all of which are redacted. */
export function readEnvFile(
  name: string,
  { envFile }: UpstreamConfig,
  { file, secrets, errorFor }: Pick<LoadedConfig, 'file' | 'secrets' | 'errorFor'>,
): Readonly<Record<string, string>> {
  if (envFile === undefined) return {};
  const path = resolve(file === undefined ? '.' : dirname(file), envFile);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : String(code);
    throw errorFor([
      { path: ['upstreams', name, 'envFile'], message: `${path} cannot be read: ${why}` },
    ]);
  }
  const variables = parseEnv(text) as Readonly<Record<string, string>>;
  for (const value of Object.values(variables)) secrets.watch(value);
  return variables;
}
