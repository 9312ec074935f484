import { packLine, type SandboxUpstream, type Settings } from './packs.js';

export interface Sandboxes {
  readonly byPack: ReadonlyMap<string, SandboxUpstream>;
  /** What the packs are configured with, by their names. */
  readonly settings: Settings;
  readonly close: () => Promise<void>;
}

/** Starts what stands in for the upstreams of these packs: all of them, or none. */
export async function startSandboxes(
  names: readonly string[],
  flags: Settings = {},
): Promise<Sandboxes> {
  const started = await Promise.allSettled(
    names.map(async (name) => [name, await packLine(name).sandbox.start(flags)] as const),
  );
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(running.map(([, upstream]) => upstream.close()));
  };
  const failed = started.find((one) => one.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  const settings = running.map(([name, upstream]) => [name, upstream.settings] as const);
  return { byPack: new Map(running), settings: Object.fromEntries(settings), close };
}
