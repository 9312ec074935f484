import {
  ConfigError,
  configuredPacks,
  createHost,
  hasRules,
  HostError,
  loadConfig,
  openGovernance,
  type LoadedConfig,
} from '@toolkeel/host';
import { choosePacks } from '../choose-packs.js';
import { packLine, packNames, toolsOf } from '../packs.js';
import type { RuntimeContext } from '../surroundings.js';
import { examineDataDir } from './data-dir.js';
import type { Finding } from './finding.js';
import { examineJournal } from './journal.js';
import { examineNode } from './node.js';
import { upstreamFindings } from './upstreams.js';

export type { Finding } from './finding.js';

/** Looks at everything that a server needs, as a server would find it here. */
export async function examine(
  file: string | undefined,
  { env, cwd }: RuntimeContext,
): Promise<readonly Finding[]> {
  const node = examineNode(process.versions.node);
  try {
    const where = { env, cwd, ...(file !== undefined && { file }) };
    const packs = choosePacks([], configuredPacks(where));
    const bindings = await Promise.all(packs.map((name) => packLine(name).load()));
    const otherPacks = packNames.filter((name) => !packs.includes(name));
    const loaded = loadConfig({ ...where, packs: bindings, otherPacks, withoutApproval: true });
    await openGovernance({
      loaded,
      tools: bindings.flatMap(({ pack }) => pack.describe()),
      ...(hasRules(loaded) && { others: await toolsOf(otherPacks) }),
      log: () => {},
    });
    const host = createHost({ packs: packs.map(loaded.packEntry), ...loaded.hostOptions });
    try {
      return [
        node,
        found(loaded),
        ...withoutApproval(loaded),
        ...credentials(loaded),
        examineDataDir(loaded.dataDir),
        ...(await examineJournal(loaded)),
        ...(await Promise.all(packs.map((name) => examinePack(name, loaded)))).flat(),
        ...upstreamFindings(await host.health()),
      ];
    } finally {
      await host.close(0);
    }
  } catch (cause) {
    if (cause instanceof ConfigError || cause instanceof HostError)
      return [node, ...refused(cause)];
    throw cause;
  }
}

/** A configuration that its pack refuses was refused before. */
async function examinePack(name: string, loaded: LoadedConfig): Promise<readonly Finding[]> {
  return (await packLine(name).examine?.(loaded.packEntry(name).config)) ?? [];
}

function found({ file, config }: LoadedConfig): Finding {
  const from = file ?? 'no file, so the defaults and the environment hold';
  return { status: 'ok', what: 'configuration', detail: `${from}; profile ${config.profile}` };
}

function withoutApproval({ approvalOverride }: LoadedConfig): readonly Finding[] {
  if (!approvalOverride) return [];
  const { by, from, to } = approvalOverride;
  const detail = `${by} moves the server from ${from} to ${to}, which asks for less`;
  const advice = `Unset ${by}; a server starts with it only if --without-approval is given.`;
  return [{ status: 'warn', what: 'approvals', detail, advice }];
}

function credentials({ credentials: kept }: LoadedConfig): readonly Finding[] {
  return kept.map(({ pointer, from }) => ({
    status: 'ok',
    what: 'credential',
    detail: `${pointer} is in ${from}`,
  }));
}

/** Every mistake of a configuration is a finding of its own. */
function refused({ message }: Error): readonly Finding[] {
  return message.split('\n').map((detail) => ({
    status: 'fail',
    what: 'configuration',
    detail,
    advice: 'Nothing else can be looked at before that is right.',
  }));
}
