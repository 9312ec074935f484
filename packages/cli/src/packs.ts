import type { ToolSpec } from '@toolkeel/contract';
import type { PackLine } from './packs/line.js';
import { stac } from './packs/stac.js';
import { x } from './packs/x.js';

export type { PackLine, SandboxUpstream, Settings } from './packs/line.js';

/** All packs there are. A new one needs its line here, and nothing else in this package. */
const packTable = new Map<string, PackLine>([
  ['stac', stac],
  ['x', x],
]);

const names = [...packTable.keys()];
export const packNames: readonly string[] = names;

/** For a program that brings a pack of its own to this command. Gives what takes it away again. */
export function addPack(name: string, line: PackLine): () => void {
  packTable.set(name, line);
  names.push(name);
  return () => {
    packTable.delete(name);
    names.splice(names.indexOf(name), 1);
  };
}

/** By a name that was checked. */
export function packLine(name: string): PackLine {
  const line = packTable.get(name);
  if (!line) throw new TypeError(`no pack is called ${name}`);
  return line;
}

/** What these packs describe. */
export async function toolsOf(packs: readonly string[]): Promise<readonly ToolSpec[]> {
  const bindings = await Promise.all(packs.map((name) => packLine(name).load()));
  return bindings.flatMap(({ pack }) => pack.describe());
}
