import { cliPack, packNames, type SandboxUpstream, type Settings } from './packs.js';
import { UsageError } from './errors.js';
import type { Flag } from '@toolkeel/sandbox';

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
    return await cliPack(name).sandbox.start(flags);
  } catch (cause) {
    if (!(cause instanceof Error && cause.name === 'UsageError')) throw cause;
    throw new UsageError(`${name}: ${cause.message}`, { cause });
  }
}

/** The flags of sandboxes, by their packs. */
export type FlagsByPack = ReadonlyMap<string, readonly Flag[]>;

export interface SandboxFlag extends Flag {
  /** Meant for one pack, as its name says: it need not be explained once more. */
  readonly isOfOne: boolean;
}

/** `--seed` for all packs that know it, `--x-seed` for one of them: each name once. */
export function sandboxFlags(byPack: FlagsByPack): readonly SandboxFlag[] {
  const all = [...byPack].flatMap(([pack, flags]) => flags.map((flag) => ({ pack, ...flag })));
  const names = [...new Set(all.map(({ flag }) => flag))];
  const shared = names.map((flag) => {
    const owners = all.filter((one) => one.flag === flag);
    return { flag, description: describeFlag(owners, byPack.size), isOfOne: false };
  });
  const own = all.map(({ pack, flag, description }) => ({
    flag: flag.replace('--', `--${pack}-`),
    description,
    isOfOne: true,
  }));
  return [...shared, ...own];
}

function describeFlag(
  owners: readonly { readonly pack: string; readonly description: string }[],
  packs: number,
): string {
  const texts = [...new Set(owners.map(({ description }) => description))];
  if (texts.length > 1) return owners.map((one) => `${one.pack}: ${one.description}`).join('; ');
  const [text = ''] = texts;
  return owners.length === packs ? text : `${owners.map(({ pack }) => pack).join(', ')}: ${text}`;
}

/** What was said to each of the chosen packs, by the names of its own flags. */
export function settingsByPack(
  chosen: readonly string[],
  byPack: FlagsByPack,
  given: Settings,
): ReadonlyMap<string, Settings> {
  const names = Object.keys(given);
  for (const [pack, flags] of byPack) {
    for (const flag of flags) refuseMisplaced(flag, pack, { chosen, byPack, names });
  }
  return new Map(
    chosen.map((pack) => {
      const entries = (byPack.get(pack) ?? []).flatMap(({ flag }) => {
        const values = [given[attribute(flag)], given[attribute(flag, pack)]];
        const said = values.filter((value) => value !== undefined);
        if (said.length === 0) return [];
        // What can be given again adds up; else what was said to one goes over what was said to all.
        return [[attribute(flag), said.every(Array.isArray) ? said.flat() : said.at(-1)] as const];
      });
      return [pack, Object.fromEntries(entries)] as const;
    }),
  );
}

interface Placing {
  readonly chosen: readonly string[];
  readonly byPack: FlagsByPack;
  readonly names: readonly string[];
}

function refuseMisplaced({ flag, isExclusive }: Flag, pack: string, placing: Placing): void {
  const { chosen, byPack, names } = placing;
  const [word = ''] = flag.split(' ');
  if (names.includes(attribute(flag, pack)) && !chosen.includes(pack)) {
    throw new UsageError(`${withPack(word, pack)}: the sandbox of ${pack} is not started here.`);
  }
  if (!names.includes(attribute(flag))) return;
  const owners = [...byPack].flatMap(([name, flags]) =>
    flags.some((one) => one.flag === flag) ? [name] : [],
  );
  const meant = owners.filter((name) => chosen.includes(name));
  if (meant.length === 0) {
    throw new UsageError(
      `${word} is for the sandbox of ${owners.join(', ')}, which is not started here.`,
    );
  }
  if (isExclusive && meant.length > 1) {
    const ways = meant.map((name) => withPack(word, name)).join(' or ');
    throw new UsageError(`${word} cannot be the same for ${meant.join(' and ')}: say ${ways}.`);
  }
}

const withPack = (word: string, pack: string): string => word.replace('--', `--${pack}-`);

/** How the parser names what was given: `--control-port <number>` is controlPort. */
function attribute(flag: string, pack?: string): string {
  const [word = ''] = flag.split(' ');
  const name = (pack === undefined ? word : withPack(word, pack)).slice(2);
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The flags of the sandboxes of all packs. They are those of the upstreams, which take a moment to load. */
export async function packFlags(): Promise<FlagsByPack> {
  const flags = packNames.map(async (name) => [name, await cliPack(name).sandbox.flags()] as const);
  return new Map(await Promise.all(flags));
}
