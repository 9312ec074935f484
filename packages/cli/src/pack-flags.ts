import { packLine, packNames } from './packs.js';
import type { FlagsByPack } from './sandbox-flags.js';

/** The flags of the sandboxes of all packs. They are those of the upstreams, which take a moment to load. */
export async function packFlags(): Promise<FlagsByPack> {
  const flags = packNames.map(
    async (name) => [name, await packLine(name).sandbox.flags()] as const,
  );
  return new Map(await Promise.all(flags));
}
