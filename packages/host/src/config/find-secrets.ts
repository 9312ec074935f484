import type * as z from 'zod';
import type { Secrets } from '../secret/secrets.js';
import { readSecretFile } from '../secret/read-file.js';
import type { ConfigIssue } from './config-error.js';
import type { Environment } from './environment.js';
import { isObject, type Layer } from './layers.js';
import { pointerOf, type Path } from './pointer.js';
import { keysAt, schemaAt } from './schema-at.js';
import { SECRET_NAME, secretInUrl } from './secret-in-url.js';
import { isSecretSource, type SecretSource } from './secret-source.js';

const SECRET_VARIABLE = /(TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIAL|API_?KEY|PRIVATE_KEY)/i;

interface Found {
  readonly path: Path;
  readonly value: unknown;
}

/** A secret that the configuration leads to: where it is needed and where it is kept, never what it is. */
export interface Credential {
  readonly pointer: string;
  /** Such as `the variable NAME` or `the file PATH`. */
  readonly from: string;
}

/**
 * Tells `secrets` of every secret that the configuration leads to, whoever will read it, so that none
 * of them can be said aloud. Gives back what is wrong with them.
 */
export function findSecrets(
  config: unknown,
  env: Environment,
  secrets: Secrets,
  originOf: (path: Path) => string,
  /** What the configuration should look like: it knows where else a secret can be kept. */
  schema: z.ZodType,
): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const { path, value } of walk(config, [])) {
    const problem = takeSecret({ path, value }, env, secrets, schema);
    if (problem !== undefined) {
      issues.push({ origin: originOf(path), pointer: pointerOf(path), message: problem });
    }
  }
  for (const [name, value = ''] of Object.entries(env)) {
    if (SECRET_VARIABLE.test(name)) secrets.watch(value);
  }
  return issues;
}

/**
 * The secrets in clear in a file, whatever overrides them: the file can be read, copied and committed
 * although another value is in use.
 */
export function clearSecretsIn(
  layer: Layer,
  secrets: Secrets,
  schema: z.ZodType,
): readonly ConfigIssue[] {
  return [...walk(layer.values, [])].flatMap((found) => {
    const message = clearSecret(found, secrets, schema);
    const { path } = found;
    return message === undefined
      ? []
      : [{ origin: layer.originOf(path), pointer: pointerOf(path), message }];
  });
}

function takeSecret(
  { path, value }: Found,
  env: Environment,
  secrets: Secrets,
  schema: z.ZodType,
): string | undefined {
  if (isSecretSource(value)) {
    const read = readSource(value, env);
    if (!read.ok) return read.reason;
    secrets.watch(read.value);
    return undefined;
  }
  return clearSecret({ path, value }, secrets, schema);
}

function clearSecret(
  { path, value }: Found,
  secrets: Secrets,
  schema: z.ZodType,
): string | undefined {
  if (typeof value !== 'string') return undefined;
  const found = secretInUrl(value);
  for (const one of found?.values ?? []) secrets.watch(one);
  if (found) return `holds ${found.what}, which does not belong here: ${adviceFor(path, schema)}`;
  if (!SECRET_NAME.test(String(path.at(-1)))) return undefined;
  secrets.watch(value);
  return `is a secret, which does not belong here: ${adviceFor(path, schema)}`;
}

/** Only what would be accepted is worth advising. */
function adviceFor(path: Path, schema: z.ZodType): string {
  const expected = schemaAt(schema, path);
  if (!expected || expected.safeParse({ env: 'NAME' }).success)
    return 'write { "env": "NAME" } or { "file": "PATH" } instead';
  const around = path.slice(0, -1);
  if (!keysAt(schema, around).includes('headers')) return 'leave it out';
  const headers = pointerOf([...around, 'headers']);
  return `leave it out, and have it sent in ${headers}, such as { "Authorization": { "env": "NAME", "prefix": "Bearer " } }`;
}

/** All that the configuration leads to. They are there: a configuration that lacks one is refused. */
export function credentialsIn(config: unknown): Credential[] {
  return [...walk(config, [])].flatMap(({ path, value }) => {
    if (!isSecretSource(value)) return [];
    const from = 'env' in value ? `the variable ${value.env}` : `the file ${value.file}`;
    return [{ pointer: pointerOf(path), from }];
  });
}

type Read =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: string };

/** The value that a source leads to, without its prefix. */
export function readSource(source: SecretSource, env: Environment): Read {
  if ('file' in source) return readSecretFile(source.file);
  const value = env[source.env];
  if (value === undefined || value === '') {
    return { ok: false, reason: `the variable ${source.env} is not set` };
  }
  return { ok: true, value };
}

function* walk(value: unknown, path: Path): Generator<Found> {
  yield { path, value };
  if (isSecretSource(value)) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* walk(item, [...path, index]);
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) yield* walk(member, [...path, key]);
  }
}
