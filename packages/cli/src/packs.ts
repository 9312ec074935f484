import { PROFILES, type Profile, type ToolSpec } from '@toolkeel/contract';
import { didYouMean } from '@toolkeel/host';
import { UsageError } from './errors.js';
import type { CliPack } from './packs/pack.js';
import { stac } from './packs/stac.js';
import { x } from './packs/x.js';

export type { CliPack, Finding, SandboxUpstream, Settings } from './packs/pack.js';

/** Every available pack. A new pack needs an entry here, and nothing else in this package. */
const packs = new Map<string, CliPack>([
  ['stac', stac],
  ['x', x],
]);

const names = [...packs.keys()];
export const packNames: readonly string[] = names;

/** Adds a pack of another program to this command. Returns a function that removes it. */
export function addPack(name: string, pack: CliPack): () => void {
  packs.set(name, pack);
  names.push(name);
  return () => {
    packs.delete(name);
    names.splice(names.indexOf(name), 1);
  };
}

/** Requires a known name. */
export function cliPack(name: string): CliPack {
  const pack = packs.get(name);
  if (!pack) throw new TypeError(`unknown pack ${name}`);
  return pack;
}

export async function toolsOf(selected: readonly string[]): Promise<readonly ToolSpec[]> {
  const bindings = await Promise.all(selected.map((name) => cliPack(name).load()));
  return bindings.flatMap(({ pack }) => pack.describe());
}

/** The named packs, else the configured packs, else all. */
export function choosePacks(
  named: readonly string[],
  configured: readonly string[] = [],
): readonly string[] {
  const unknown = named.find((name) => !packNames.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `Unknown pack "${unknown}".${didYouMean(unknown, packNames)} Packs: ${packNames.join(', ')}.`,
    );
  }
  if (named.length > 0) return [...new Set(named)];
  const known = configured.filter((name) => packNames.includes(name));
  return known.length > 0 ? known : packNames;
}

export function parseProfile(name: string): Profile {
  const known = PROFILES.find((profile) => profile === name);
  if (known) return known;
  throw new UsageError(
    `Unknown profile "${name}".${didYouMean(name, PROFILES)} Profiles: ${PROFILES.join(', ')}.`,
  );
}
