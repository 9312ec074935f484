import { dirname } from 'node:path';
import { ofPack, PROFILES, type Profile, type ToolSpec } from '@toolkeel/contract';
import { configuredPacks, didYouMean, pointerOf } from '@toolkeel/host';
import { UsageError } from './errors.js';
import { github } from './packs/github.js';
import { llm } from './packs/llm.js';
import { loadPackModule, modulePack, refusal, type NamedModule } from './packs/module.js';
import type { BuiltinPack, CliPack } from './packs/pack.js';
import { stac } from './packs/stac.js';
import { x } from './packs/x.js';
import type { RuntimeContext } from './runtime.js';

export type { CliPack, Finding, SandboxUpstream, Settings } from './packs/pack.js';

/** Every built-in pack. A new one needs an entry here, and nothing else in this package. */
const builtins: Readonly<Record<string, BuiltinPack>> = { stac, x, github, llm };

/** The names of the built-in packs. */
export const packNames: readonly string[] = Object.keys(builtins);

const isBuiltin = (name: string): boolean => Object.hasOwn(builtins, name);

/** A built-in pack. Requires a known name. */
export function cliPack(name: string): BuiltinPack {
  const pack = isBuiltin(name) ? builtins[name] : undefined;
  if (!pack) throw new TypeError(`unknown pack ${name}`);
  return pack;
}

export async function toolsOf(
  selected: readonly string[],
  get: (name: string) => CliPack = cliPack,
): Promise<readonly ToolSpec[]> {
  const bindings = await Promise.all(selected.map((name) => get(name).load()));
  return bindings.flatMap(({ pack }) => ofPack(pack.name, pack.describe()));
}

/** The flags that name packs and their configuration. */
export interface PackFlags {
  readonly config?: string;
  /** Modules, relative to the working directory. */
  readonly pack?: readonly string[];
}

/** The packs of a command: those that are built in, and those whose modules the operator named. */
export interface PackCatalog {
  readonly names: readonly string[];
  /** Requires a known name. */
  readonly get: (name: string) => CliPack;
  /** The named packs, else the configured ones, else those that are built in. */
  readonly choose: (named?: readonly string[]) => readonly string[];
}

/** Modules of the configuration are loaded on first use, those of flags at once, for their names. */
export async function openCatalog(
  { config, pack: flagged = [] }: PackFlags,
  { env, cwd, stderr }: Pick<RuntimeContext, 'env' | 'cwd' | 'stderr'>,
): Promise<PackCatalog> {
  const context = { env, printed: stderr.write };
  const packs = new Map<string, CliPack>(Object.entries(builtins));
  const location = { env, cwd, ...(config !== undefined && { file: config }) };
  const { file = '', packs: configured } = configuredPacks(location);
  for (const { name, module } of configured) {
    if (module === undefined) continue;
    const pointer = pointerOf(['packs', name, 'module']);
    const named: NamedModule = { module, from: dirname(file), origin: { origin: file, pointer } };
    if (isBuiltin(name)) throw refusal(named, takenBy(name));
    const load = async () => {
      const pack = await loadPackModule(named, context);
      if (pack.name === name) return pack;
      throw refusal(named, `exports the pack "${pack.name}": use this name under "packs".`);
    };
    packs.set(name, modulePack(load));
  }
  const fromFlags: string[] = [];
  for (const module of flagged) {
    const named: NamedModule = { module, from: cwd, origin: { origin: '--pack', pointer: '' } };
    const pack = await loadPackModule(named, context);
    if (isBuiltin(pack.name)) throw refusal(named, takenBy(pack.name));
    if (fromFlags.includes(pack.name)) {
      throw refusal(named, `exports the pack "${pack.name}", as another --pack does.`);
    }
    fromFlags.push(pack.name);
    packs.set(
      pack.name,
      modulePack(() => Promise.resolve(pack)),
    );
  }
  const names = [...packs.keys()];
  const get = (name: string): CliPack => {
    const pack = packs.get(name);
    if (!pack) throw new TypeError(`unknown pack ${name}`);
    return pack;
  };
  return {
    names,
    get,
    choose: (named = []) =>
      choosePacks(
        [...named, ...fromFlags],
        configured.map(({ name }) => name),
        names,
      ),
  };
}

const takenBy = (name: string): string =>
  `cannot be the pack "${name}", which is built in: give it another name.`;

/** The named packs, else the configured packs, else those that are built in. */
export function choosePacks(
  named: readonly string[],
  configured: readonly string[] = [],
  names = packNames,
): readonly string[] {
  const unknown = named.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `Unknown pack "${unknown}".${didYouMean(unknown, names)} Packs: ${names.join(', ')}.`,
    );
  }
  if (named.length > 0) return [...new Set(named)];
  const known = configured.filter((name) => names.includes(name));
  return known.length > 0 ? known : packNames;
}

export function parseProfile(name: string): Profile {
  const known = PROFILES.find((profile) => profile === name);
  if (known) return known;
  throw new UsageError(
    `Unknown profile "${name}".${didYouMean(name, PROFILES)} Profiles: ${PROFILES.join(', ')}.`,
  );
}
