import { styleText } from 'node:util';
import { upstreamsSchema, type UpstreamConfig } from '@toolkeel/guard';
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
import { openCatalog, toolsOf, type Finding, type PackFlags } from '../packs.js';
import { oneLine } from '../operator/format.js';
import type { RuntimeContext } from '../runtime.js';
import { fileOf } from './adopt.js';
import { checkGuarded } from './doctor-guard.js';
import { readHostUpstreams, type ChosenUpstream } from './host-upstreams.js';
import { checkDataDir, checkJournal, checkNode, checkUpstreams } from './doctor-checks.js';

export interface DoctorFlags extends PackFlags {
  readonly json?: boolean;
  /** A client, or the path of its file. */
  readonly from?: string;
}

const LABEL = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;
const STYLE = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** Reports problems of the installation and how to fix them; exits with 1 if a check fails. */
export async function doctor(flags: DoctorFlags, runtime: RuntimeContext): Promise<number> {
  const { stdout } = runtime;
  const { json } = flags;
  const findings = await runChecks(flags, runtime);
  const ok = findings.every(({ status }) => status !== 'fail');
  stdout.write(
    json ? `${JSON.stringify({ ok, findings }, null, 2)}\n` : report(findings, stdout.colours),
  );
  return ok ? 0 : 1;
}

function report(given: readonly Finding[], colours: boolean): string {
  // Servers choose the names of their tools and the texts of their errors.
  const findings = given.map(({ status, what, detail, advice }) => ({
    status,
    what: oneLine(what),
    detail: oneLine(detail),
    advice: advice && oneLine(advice),
  }));
  const width = Math.max(...findings.map(({ what }) => what.length));
  const label = (status: Finding['status']): string =>
    colours ? styleText(STYLE[status], LABEL[status], { validateStream: false }) : LABEL[status];
  const lines = findings.flatMap(({ status, what, detail, advice }) => [
    `${label(status)}  ${what.padEnd(width)}  ${detail}`,
    ...(advice === undefined ? [] : [`${' '.repeat(width + 8)}${advice}`]),
  ]);
  const count = (wanted: Finding['status']): number =>
    findings.filter(({ status }) => status === wanted).length;
  const [failed, warned] = [count('fail'), count('warn')];
  const summary =
    failed + warned === 0 ? 'All checks passed.' : `${failed} failed, ${warned} with a warning.`;
  return `${[...lines, '', summary].join('\n')}\n`;
}

/** Runs every check with the configuration that a server would load here. */
async function runChecks(flags: DoctorFlags, runtime: RuntimeContext): Promise<readonly Finding[]> {
  const { env, cwd } = runtime;
  const { config: file } = flags;
  const node = checkNode(process.versions.node);
  try {
    const location = { env, cwd, ...(file !== undefined && { file }) };
    const { names, get, choose } = await openCatalog(flags, runtime);
    const packs = choose();
    const bindings = await Promise.all(packs.map((name) => get(name).load()));
    const otherPacks = names.filter((name) => !packs.includes(name));
    const loaded = loadConfig({
      ...location,
      packs: bindings,
      otherPacks,
      withoutApproval: true,
      ...SECTIONS,
    });
    const upstreams = upstreamsOf(flags, loaded, runtime);
    // Who only guards other servers has no use for the packs that are built in.
    const isGuardOnly =
      upstreams.length > 0 && configuredPacks(location).packs.length === 0 && !flags.pack?.length;
    const checked = isGuardOnly ? [] : packs;
    // The rules of a guard are for its own tools.
    if (!isGuardOnly)
      await openGovernance({
        loaded,
        tools: bindings.flatMap(({ pack }) => pack.describe()),
        ...(hasRules(loaded) && { others: await toolsOf(otherPacks, get) }),
        log: () => {},
      });
    const host = createHost({ packs: checked.map(loaded.packEntry), ...loaded.hostOptions });
    const checkPack = async (name: string): Promise<readonly Finding[]> =>
      (await get(name).check?.(loaded.packEntry(name).config)) ?? [];
    try {
      return [
        node,
        configurationFinding(loaded),
        ...approvalFindings(loaded),
        ...credentialFindings(loaded),
        checkDataDir(loaded.dataDir),
        ...(await checkJournal(loaded)),
        ...(await Promise.all(checked.map(checkPack))).flat(),
        ...checkUpstreams(await host.health()),
        ...(await checkGuarded(loaded, upstreams, env, flags.from === undefined)),
      ];
    } finally {
      await host.close(0);
    }
  } catch (cause) {
    if (cause instanceof ConfigError || cause instanceof HostError)
      return [node, ...invalidConfiguration(cause)];
    throw cause;
  }
}

const SECTIONS = { sections: { upstreams: upstreamsSchema } } as const;

/** The servers of a client's file, else the configured ones. */
function upstreamsOf(
  { from }: DoctorFlags,
  { config }: LoadedConfig,
  runtime: RuntimeContext,
): readonly ChosenUpstream[] {
  if (from !== undefined) return readHostUpstreams(fileOf(from, runtime), runtime);
  const configured = (config.upstreams ?? {}) as Readonly<Record<string, UpstreamConfig>>;
  return Object.entries(configured)
    .filter(([, { disabled }]) => !disabled)
    .map(([name, given]) => ({ name, config: given }));
}

function configurationFinding({ file, config }: LoadedConfig): Finding {
  const source = file ?? 'no file; using defaults and the environment';
  return { status: 'ok', what: 'configuration', detail: `${source}; profile ${config.profile}` };
}

function approvalFindings({ approvalOverride }: LoadedConfig): readonly Finding[] {
  if (!approvalOverride) return [];
  const { by, from, to } = approvalOverride;
  const detail = `${by} changes the profile from ${from} to ${to}, which requires fewer approvals`;
  const advice = `Unset ${by}, or start the server with --without-approval.`;
  return [{ status: 'warn', what: 'approvals', detail, advice }];
}

function credentialFindings({ credentials }: LoadedConfig): readonly Finding[] {
  return credentials.map(({ pointer, from }) => ({
    status: 'ok',
    what: 'credential',
    detail: `${pointer} is in ${from}`,
  }));
}

/** One finding for each mistake. */
function invalidConfiguration({ message }: Error): readonly Finding[] {
  return message.split('\n').map((detail) => ({
    status: 'fail',
    what: 'configuration',
    detail,
    advice: 'Fix this first: the remaining checks need a valid configuration.',
  }));
}
