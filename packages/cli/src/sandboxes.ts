import type { Flag } from '@toolkeel/sandbox';
import { UsageError } from './errors.js';
import { cliPack, packNames, type CliPack, type SandboxUpstream, type Settings } from './packs.js';

export interface Sandboxes {
  readonly byPack: ReadonlyMap<string, SandboxUpstream>;
  /** Pack settings by pack name. */
  readonly settings: Settings;
  readonly close: () => Promise<void>;
}

/** Starts the sandboxes of these packs: all of them, or none. */
export async function startSandboxes(
  names: readonly string[],
  flags: ReadonlyMap<string, Settings> = new Map(),
  packOf: (name: string) => CliPack = cliPack,
): Promise<Sandboxes> {
  const started = await Promise.allSettled(
    names.map(
      async (name) => [name, await start(name, packOf(name), flags.get(name) ?? {})] as const,
    ),
  );
  const running = started.flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : [],
  );
  const close = async (): Promise<void> => {
    await Promise.all(running.map(([, upstream]) => upstream.close()));
  };
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  const settings = running.map(([name, upstream]) => [name, upstream.settings] as const);
  return { byPack: new Map(running), settings: Object.fromEntries(settings), close };
}

/** Names the pack in a usage error, because another pack may accept the same flag. */
async function start(name: string, pack: CliPack, flags: Settings): Promise<SandboxUpstream> {
  try {
    return await pack.sandbox.start(flags);
  } catch (cause) {
    if (!(cause instanceof Error && cause.name === 'UsageError')) throw cause;
    throw new UsageError(`${name}: ${cause.message}`, { cause });
  }
}

export type FlagsByPack = ReadonlyMap<string, readonly Flag[]>;

export interface SandboxFlag extends Flag {
  /** For one pack only: hidden in the help. */
  readonly isPackSpecific: boolean;
}

/** `--seed` for all packs that support it, and `--x-seed` for one of them. */
export function sandboxFlags(byPack: FlagsByPack): readonly SandboxFlag[] {
  const all = [...byPack].flatMap(([pack, flags]) => flags.map((flag) => ({ pack, ...flag })));
  const names = [...new Set(all.map(({ flag }) => flag))];
  const shared = names.map((flag) => {
    const owners = all.filter((candidate) => candidate.flag === flag);
    return { flag, description: describeFlag(owners, byPack.size), isPackSpecific: false };
  });
  const own = all.map(({ pack, flag, description }) => ({
    flag: flag.replace('--', `--${pack}-`),
    description,
    isPackSpecific: true,
  }));
  return [...shared, ...own];
}

function describeFlag(
  owners: readonly { readonly pack: string; readonly description: string }[],
  packs: number,
): string {
  const texts = [...new Set(owners.map(({ description }) => description))];
  if (texts.length > 1)
    return owners.map(({ pack, description }) => `${pack}: ${description}`).join('; ');
  const [text = ''] = texts;
  return owners.length === packs ? text : `${owners.map(({ pack }) => pack).join(', ')}: ${text}`;
}

/** The flag values of each chosen pack, by its own flag names. */
export function settingsByPack(
  chosen: readonly string[],
  byPack: FlagsByPack,
  given: Settings,
): ReadonlyMap<string, Settings> {
  const names = Object.keys(given);
  for (const [pack, flags] of byPack) {
    for (const flag of flags) rejectMisplaced(flag, pack, { chosen, byPack, names });
  }
  return new Map(
    chosen.map((pack) => {
      const entries = (byPack.get(pack) ?? []).flatMap(({ flag }) => {
        const values = [given[attribute(flag)], given[attribute(flag, pack)]];
        const set = values.filter((value) => value !== undefined);
        if (set.length === 0) return [];
        // Repeatable flags accumulate; for others the pack-specific flag overrides the shared one.
        return [[attribute(flag), set.every(Array.isArray) ? set.flat() : set.at(-1)] as const];
      });
      return [pack, Object.fromEntries(entries)] as const;
    }),
  );
}

interface FlagContext {
  readonly chosen: readonly string[];
  readonly byPack: FlagsByPack;
  readonly names: readonly string[];
}

function rejectMisplaced({ flag, isExclusive }: Flag, pack: string, context: FlagContext): void {
  const { chosen, byPack, names } = context;
  const [word = ''] = flag.split(' ');
  if (names.includes(attribute(flag, pack)) && !chosen.includes(pack)) {
    throw new UsageError(`${withPack(word, pack)}: the sandbox of ${pack} is not started.`);
  }
  if (!names.includes(attribute(flag))) return;
  const owners = [...byPack].flatMap(([name, flags]) =>
    flags.some((candidate) => candidate.flag === flag) ? [name] : [],
  );
  const meant = owners.filter((name) => chosen.includes(name));
  if (meant.length === 0) {
    throw new UsageError(
      `${word} applies to the sandbox of ${owners.join(', ')}, which is not started.`,
    );
  }
  if (isExclusive && meant.length > 1) {
    const ways = meant.map((name) => withPack(word, name)).join(' or ');
    throw new UsageError(`${word} cannot be the same for ${meant.join(' and ')}. Use ${ways}.`);
  }
}

const withPack = (word: string, pack: string): string => word.replace('--', `--${pack}-`);

/** The property name of the parser: `--control-port <number>` is controlPort. */
function attribute(flag: string, pack?: string): string {
  const [word = ''] = flag.split(' ');
  const name = (pack === undefined ? word : withPack(word, pack)).slice(2);
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

export async function packFlags(): Promise<FlagsByPack> {
  const flags = packNames.map(async (name) => [name, await cliPack(name).sandbox.flags()] as const);
  return new Map(await Promise.all(flags));
}
