import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { upstreamSchema, type UpstreamConfig } from '@toolkeel/guard';
import { didYouMean } from '@toolkeel/host';
import type * as z from 'zod';
import { UsageError } from '../errors.js';
import type { RuntimeContext } from '../runtime.js';
import { parsed, reasonToSkip, serversOf, withoutGuard } from './host-config.js';
import { ownScript } from './init.js';

/** A server to guard. */
export interface ChosenUpstream {
  readonly name: string;
  /** Names under which earlier guards of it recorded operations. */
  readonly formerNames?: readonly string[];
  readonly config: UpstreamConfig;
}

/** The servers in a client's configuration file, as they are. */
export function readHostUpstreams(
  file: string,
  { cwd, env, stderr }: Pick<RuntimeContext, 'cwd' | 'env' | 'stderr'>,
): readonly ChosenUpstream[] {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(
      `${path} cannot be read. Use --upstreams with the path of a client's file.`,
    );
  }
  const skip = (name: string, reason: string): [] => {
    stderr.write(`Left ${name}: it ${reason}.\n`);
    return [];
  };
  const chosen = parsed(path, () => serversOf(text)).flatMap(({ name, entry: listed }) => {
    // A file that was guarded already is as good as its original.
    const entry = withoutGuard(listed, ownScript) ?? listed;
    const { disabled } = entry as { readonly disabled?: unknown };
    const reason = disabled === true ? 'is disabled' : reasonToSkip(entry, ownScript);
    if (reason !== undefined) return skip(name, reason);
    const { value, missing } = expand(entry, { ...env, workspaceFolder: workspaceOf(path) });
    if (missing.length > 0) return skip(name, `needs ${missing.join(', ')}, which is not set`);
    const result = upstreamSchema.safeParse(value);
    if (!result.success) throw new UsageError(`${path}: ${name}${explained(result.error)}`);
    const { envFile } = result.data;
    if (envFile === undefined) return [{ name, config: result.data }];
    const absolute = resolve(dirname(path), envFile);
    if (!existsSync(absolute))
      return skip(name, `needs ${absolute} (envFile), which does not exist`);
    return [{ name, config: { ...result.data, envFile: absolute } }];
  });
  if (chosen.length > 0) return chosen;
  throw new UsageError(`${path} has no server to guard.`);
}

/** The message for the first mistake in an entry, as for the configuration. */
function explained({ issues: [issue] }: z.ZodError): string {
  const path = (issue?.path ?? []).map((part) => `.${String(part)}`).join('');
  if (issue?.code !== 'unrecognized_keys') return `${path}: ${issue?.message}`;
  const [key = ''] = issue.keys;
  const known = path === '' ? Object.keys(upstreamSchema.shape) : [];
  return `${path}.${key} is not a known setting.${didYouMean(key, known)}`;
}

/** Editors keep their file in a folder of the workspace. */
function workspaceOf(path: string): string {
  const dir = dirname(path);
  return /^\.(vscode|cursor)$/.test(basename(dir)) ? dirname(dir) : dir;
}

/** `${NAME}`, `${NAME:-default}` and `${env:NAME}`: clients fill in variables so. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{([^}]*)\}/g;

interface Expanded {
  readonly value: unknown;
  readonly missing: readonly string[];
}

function expand(value: unknown, env: RuntimeContext['env']): Expanded {
  const missing = new Set<string>();
  const walk = (given: unknown): unknown => {
    if (typeof given === 'string') {
      return given.replaceAll(VARIABLE, (all, name?: string, otherwise?: string) => {
        const found = name === undefined ? undefined : (env[name] ?? otherwise);
        if (found === undefined) missing.add(all);
        return found ?? all;
      });
    }
    if (Array.isArray(given)) return given.map(walk);
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([name, member]) => [name, walk(member)]));
  };
  return { value: walk(value), missing: [...missing] };
}
