import type { ToolSpec } from '@toolkeel/contract';
import type { CliPack } from './packs/pack.js';
import { stac } from './packs/stac.js';
import { x } from './packs/x.js';
import { didYouMean } from '@toolkeel/host';
import { UsageError } from './errors.js';

export type { CliPack, Finding, SandboxUpstream, Settings } from './packs/pack.js';

/** All packs there are. A new one needs its line here, and nothing else in this package. */
const packTable = new Map<string, CliPack>([
  ['stac', stac],
  ['x', x],
]);

const names = [...packTable.keys()];
export const packNames: readonly string[] = names;

/** For a program that brings a pack of its own to this command. Gives what takes it away again. */
export function addPack(name: string, line: CliPack): () => void {
  packTable.set(name, line);
  names.push(name);
  return () => {
    packTable.delete(name);
    names.splice(names.indexOf(name), 1);
  };
}

/** By a name that was checked. */
export function cliPack(name: string): CliPack {
  const line = packTable.get(name);
  if (!line) throw new TypeError(`no pack is called ${name}`);
  return line;
}

/** What these packs describe. */
export async function toolsOf(packs: readonly string[]): Promise<readonly ToolSpec[]> {
  const bindings = await Promise.all(packs.map((name) => cliPack(name).load()));
  return bindings.flatMap(({ pack }) => pack.describe());
}

/** Those that were named, else those that the configuration speaks of, else all. */
export function choosePacks(
  named: readonly string[],
  configured: readonly string[] = [],
): readonly string[] {
  const unknown = named.find((name) => !packNames.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `There is no pack "${unknown}".${didYouMean(unknown, packNames)} Packs: ${packNames.join(', ')}.`,
    );
  }
  if (named.length > 0) return [...new Set(named)];
  const known = configured.filter((name) => packNames.includes(name));
  return known.length > 0 ? known : packNames;
}
