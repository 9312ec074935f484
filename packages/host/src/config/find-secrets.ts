import type { SecretSource } from '@toolkeel/pack-kit/base';
import type * as z from 'zod';
import type { ConfigIssue } from '../errors.js';
import { readSecretFile, type SecretFile } from '../secret/key-files.js';
import type { Secrets } from '../secret/secrets.js';
import { keysAt, schemaAt } from './explain.js';
import { isObject, pointerOf, type Environment, type Layer, type Path } from './layers.js';
import { isSecretSource } from './schema.js';

const SECRET_VARIABLE =
  /TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIAL|(API|ACCESS)_?KEY|PRIVATE_KEY|_(PASS|PASSWD|PWD|PAT|JWT|COOKIE)$/i;
/** Names of settings and parameters that hold secrets. `tokenUrl` does not match: the name must end so. */
const SECRET_NAME =
  /(^|[-_.]|[a-z])(authorization|cookie|token|secret|password|(api|access|private|signing|subscription)[-_]?key)$/i;
/** Further names that only indicate a secret in a query string or as a flag. */
const SECRET_PARAMETER =
  /^(key|sig|pwd|auth|jwt|bearer|(.*[-_])?(signature|pat|passwd|passphrase|credentials?|(api|access|private)[-_]?keys))$/i;

interface Setting {
  readonly path: Path;
  readonly value: unknown;
}

/** A secret that the configuration refers to, without its value. */
export interface Credential {
  readonly pointer: string;
  /** Such as `the variable NAME` or `the file PATH`. */
  readonly from: string;
}

/** A secret in a URL: its kind, and the values to redact. */
export interface UrlSecret {
  readonly what: string;
  readonly values: readonly string[];
}

/**
 * Registers every secret that the configuration or the environment contains for redaction, and reports
 * missing secrets and secrets in plain text. `schema` tells where the configuration accepts a source.
 */
export function findSecrets(
  config: unknown,
  env: Environment,
  secrets: Secrets,
  originOf: (path: Path) => string,
  schema: z.ZodType,
): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const setting of walk(config, [])) {
    const { path, value } = setting;
    const message = isSecretSource(value)
      ? watchSource(value, env, secrets)
      : watchPlainSecret(setting, secrets, schema);
    if (message !== undefined) {
      issues.push({ origin: originOf(path), pointer: pointerOf(path), message });
    }
  }
  environmentSecrets(env, secrets);
  return issues;
}

/** Registers the variables whose name says that they hold a secret. */
export function environmentSecrets(env: Environment, secrets: Secrets): Secrets {
  for (const [name, value = ''] of Object.entries(env)) {
    if (SECRET_VARIABLE.test(name)) secrets.watch(value);
  }
  return secrets;
}

/**
 * Reports the secrets in plain text in a file, including those that another layer overrides: the file
 * can still be read, copied and committed.
 */
export function plainSecretsIn(
  { values, originOf }: Layer,
  secrets: Secrets,
  schema: z.ZodType,
): readonly ConfigIssue[] {
  return [...walk(values, [])].flatMap((setting) => {
    const message = watchPlainSecret(setting, secrets, schema);
    const { path } = setting;
    return message === undefined
      ? []
      : [{ origin: originOf(path), pointer: pointerOf(path), message }];
  });
}

function watchSource(source: SecretSource, env: Environment, secrets: Secrets): string | undefined {
  const read = readSource(source, env);
  if (!read.ok) return read.reason;
  secrets.watch(read.value);
  return undefined;
}

function watchPlainSecret(
  { path, value }: Setting,
  secrets: Secrets,
  schema: z.ZodType,
): string | undefined {
  if (typeof value !== 'string') return undefined;
  const inUrl = secretInUrl(value);
  for (const part of inUrl?.values ?? []) secrets.watch(part);
  if (inUrl) return `contains ${inUrl.what} in plain text: ${adviceFor(path, schema)}`;
  if (!SECRET_NAME.test(String(path.at(-1)))) return undefined;
  secrets.watch(value);
  return `is a secret in plain text: ${adviceFor(path, schema)}`;
}

/** Suggests only what the schema accepts. */
function adviceFor(path: Path, schema: z.ZodType): string {
  const expected = schemaAt(schema, path);
  if (!expected || expected.safeParse({ env: 'NAME' }).success)
    return 'use { "env": "NAME" } or { "file": "PATH" } instead';
  const parent = path.slice(0, -1);
  if (!keysAt(schema, parent).includes('headers')) return 'remove it';
  const headers = pointerOf([...parent, 'headers']);
  return `remove it and set ${headers}, such as { "Authorization": { "env": "NAME", "prefix": "Bearer " } }`;
}

/** Lists the secrets of a valid configuration. */
export function credentialsIn(config: unknown): Credential[] {
  return [...walk(config, [])].flatMap(({ path, value }) => {
    if (!isSecretSource(value)) return [];
    const from = 'env' in value ? `the variable ${value.env}` : `the file ${value.file}`;
    return [{ pointer: pointerOf(path), from }];
  });
}

/** Reads the value of a source, without its prefix. */
export function readSource(source: SecretSource, env: Environment): SecretFile {
  if ('file' in source) return readSecretFile(source.file);
  const value = env[source.env];
  if (value === undefined || value === '') {
    return { ok: false, reason: `the variable ${source.env} is not set` };
  }
  return { ok: true, value };
}

function* walk(value: unknown, path: Path): Generator<Setting> {
  yield { path, value };
  if (isSecretSource(value)) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* walk(item, [...path, index]);
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) yield* walk(member, [...path, key]);
  }
}

/** Whether the name of a query parameter, or of a flag without its dashes, says that the value is a secret. */
export function isSecretParameter(name: string): boolean {
  return SECRET_NAME.test(name) || SECRET_PARAMETER.test(name);
}

/** Finds a credential in a URL. URLs are displayed, logged and passed on. */
export function secretInUrl(text: string): UrlSecret | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? parseUrl(text) : undefined;
  if (!url) return undefined;
  const { username, password, searchParams } = url;
  if (password !== '') return { what: 'a password', values: encodingsOf(password) };
  // A user name is public for a database; for a web server it is often a token.
  if (username !== '' && /^https?:$/.test(url.protocol)) {
    return { what: 'a user name', values: encodingsOf(username) };
  }
  for (const [name, value] of searchParams) {
    if (value !== '' && isSecretParameter(name))
      return { what: 'a secret in its query', values: [value] };
  }
  return undefined;
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function encodingsOf(encoded: string): string[] {
  try {
    return [encoded, decodeURIComponent(encoded)];
  } catch {
    return [encoded];
  }
}
