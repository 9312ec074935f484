import { packLine, type SandboxUpstream, type Settings } from './packs.js';
import { UsageError } from './usage-error.js';

export interface Sandboxes {
  readonly byPack: ReadonlyMap<string, SandboxUpstream>;
  /** What the packs are configured with, by their names. */
  readonly settings: Settings;
  readonly close: () => Promise<void>;
}

/** Starts what stands in for the upstreams of these packs: all of them, or none. */
export async function startSandboxes(
  names: readonly string[],
  flags: ReadonlyMap<string, Settings> = new Map(),
): Promise<Sandboxes> {
  const started = await Promise.allSettled(
    names.map(async (name) => [name, await start(name, flags.get(name) ?? {})] as const),
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

/** What one of them refuses another may like, so it has to be said whose mistake it is. */
async function start(name: string, flags: Settings): Promise<SandboxUpstream> {
  try {
    return await packLine(name).sandbox.start(flags);
  } catch (cause) {
    if (!(cause instanceof Error && cause.name === 'UsageError')) throw cause;
    throw new UsageError(`${name}: ${cause.message}`, { cause });
  }
}
