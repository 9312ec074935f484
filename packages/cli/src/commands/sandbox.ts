import { choosePacks } from '../choose-packs.js';
import { packLine, type Settings } from '../packs.js';
import { startSandboxes } from '../sandboxes.js';
import type { Surroundings } from '../surroundings.js';

/** The local upstreams alone, until somebody stops them. */
export async function sandbox(
  named: readonly string[],
  flags: Settings,
  { stdout }: Surroundings,
  stopped: Promise<void>,
): Promise<void> {
  const packs = choosePacks(named);
  const { byPack, close } = await startSandboxes(packs, flags);
  for (const [name, { addresses }] of byPack) {
    const lines = Object.entries(addresses).map(([what, url]) => `  ${what.padEnd(10)} ${url}\n`);
    const [first = ''] = Object.values(addresses);
    stdout.write(
      `${name}\n${lines.join('')}\n  ${packLine(name).urlVariable}=${first} toolkeel serve ${name}\n\n`,
    );
  }
  stdout.write('Ctrl-C stops it.\n');
  await stopped;
  await close();
}
