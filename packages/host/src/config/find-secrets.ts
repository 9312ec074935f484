import type { Secrets } from '../secret/secrets.js';
import { readSecretFile } from '../secret/read-file.js';
import type { ConfigIssue } from './config-error.js';
import type { Environment } from './environment.js';
import { isObject } from './layers.js';
import { pointerOf, type Path } from './pointer.js';
import { isSecretSource, type SecretSource } from './secret-source.js';

/** Names of what nobody else should know. `tokenUrl` is not among them: it ends otherwise. */
const SECRET_NAME =
  /(^|[-_.]|[a-z])(authorization|cookie|token|secret|password|(api|access|private|signing|subscription)[-_]?key)$/i;
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
): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const { path, value } of walk(config, [])) {
    const problem = takeSecret(path, value, env, secrets);
    if (problem !== undefined) {
      issues.push({ origin: originOf(path), pointer: pointerOf(path), message: problem });
    }
  }
  for (const [name, value = ''] of Object.entries(env)) {
    if (SECRET_VARIABLE.test(name)) secrets.watch(value);
  }
  return issues;
}

function takeSecret(
  path: Path,
  value: unknown,
  env: Environment,
  secrets: Secrets,
): string | undefined {
  if (isSecretSource(value)) {
    const read = readSource(value, env);
    if (!read.ok) return read.reason;
    secrets.watch(read.value);
    return undefined;
  }
  if (typeof value !== 'string') return undefined;
  const password = passwordIn(value);
  if (password !== undefined) {
    secrets.watch(password);
    return 'holds a password, which does not belong here: write { "env": "NAME" } instead';
  }
  if (!SECRET_NAME.test(String(path.at(-1)))) return undefined;
  secrets.watch(value);
  return 'is a secret, which does not belong here: write { "env": "NAME" } or { "file": "PATH" }';
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

function passwordIn(text: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i.test(text)) return undefined;
  try {
    return decodeURIComponent(new URL(text).password) || undefined;
  } catch {
    return undefined;
  }
}
