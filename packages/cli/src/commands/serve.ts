import { createHost, createLog, loadConfig, configuredPacks } from '@toolkeel/host';
import { packNames, packTable, type PackEntry } from '../packs.js';

export interface ServeOptions {
  readonly profile?: string;
  readonly config?: string;
  readonly sandbox?: boolean;
}

export async function serve(given: readonly string[], options: ServeOptions): Promise<void> {
  const where = options.config === undefined ? {} : { file: options.config };
  const configured = configuredPacks(where).filter((name) => packNames.includes(name));
  const fallback = configured.length > 0 ? configured : packNames;
  const names = given.length > 0 ? given : fallback;
  const entries = names.map((name) => [name, packTable[name]!] as const);
  const upstreams = options.sandbox ? await startAll(entries) : undefined;
  const { config, secrets, hostOptions, packEntry } = loadConfig({
    ...where,
    packs: await Promise.all(entries.map(([, entry]) => entry.load())),
    otherPacks: packNames.filter((name) => !names.includes(name)),
    ...(options.profile !== undefined && { flags: { profile: options.profile } }),
    ...(upstreams && {
      packSettings: Object.fromEntries(upstreams.map(([name, { settings }]) => [name, settings])),
    }),
  });
  const { log } = createLog({ level: config.log.level, scrub: secrets.scrub });
  const host = createHost({ packs: names.map(packEntry), log, ...hostOptions });
  await host.serveStdio().closed;
  await host.close();
  await Promise.all((upstreams ?? []).map(([, { close }]) => close()));
}

function startAll(entries: readonly (readonly [string, PackEntry])[]) {
  return Promise.all(
    entries.map(async ([name, entry]) => [name, await entry.startSandbox()] as const),
  );
}
