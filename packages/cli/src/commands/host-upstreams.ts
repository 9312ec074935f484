import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { upstreamSchema, type UpstreamConfig } from '@toolkeel/guard';
import { UsageError } from '../errors.js';
import type { RuntimeContext } from '../runtime.js';
import { parsed, reasonToSkip, serversOf, withoutGuard } from './host-config.js';
import { ownScript } from './init.js';

/** A server to guard. */
export interface ChosenUpstream {
  readonly name: string;
  readonly config: UpstreamConfig;
}

/** Members of a client's entry that the guard understands. Clients have many others, such as `autoApprove`. */
const MEMBERS: ReadonlySet<string> = new Set(Object.keys(upstreamSchema.shape));

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
    const { disabled, ...given } = entry as Readonly<Record<string, unknown>>;
    const reason = disabled === true ? 'is disabled' : reasonToSkip(entry, ownScript);
    if (reason !== undefined) return skip(name, reason);
    const known = Object.entries(given).filter(([member]) => MEMBERS.has(member));
    const { value, missing } = expand(Object.fromEntries(known), env);
    if (missing.length > 0) return skip(name, `needs ${missing.join(', ')}, which is not set`);
    const result = upstreamSchema.safeParse(value);
    if (result.success) return [{ name, config: result.data }];
    const [issue] = result.error.issues;
    throw new UsageError(`${path}: ${name}.${issue?.path.join('.')}: ${issue?.message}`);
  });
  if (chosen.length > 0) return chosen;
  throw new UsageError(`${path} has no server to guard.`);
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
