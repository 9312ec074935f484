import {
  inspectUpstream,
  prefixOf,
  toolFilter,
  type EffectDecision,
  type GuardedTool,
  type Inspection,
} from '@toolkeel/guard';
import type { LoadedConfig } from '@toolkeel/host';
import type { Finding } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';
import type { ChosenUpstream } from './host-upstreams.js';

/** Starts each guarded server, and lists its tools with their effects and the reasons. */
export async function checkGuarded(
  loaded: LoadedConfig,
  upstreams: readonly ChosenUpstream[],
  env: RuntimeContext['env'],
  /** Whether one guard serves all of them, under prefixes. */
  isMerged: boolean,
): Promise<readonly Finding[]> {
  const inspected = upstreams.map(async ({ name, config }) => {
    const prefix =
      isMerged && upstreams.length > 1 ? prefixOf(name, config) : (config.prefix ?? '');
    try {
      const own = { ...config, prefix };
      const found = await inspectUpstream({ loaded, name, config: own, env: { ...env } });
      const isAllowed = toolFilter(config) ?? (() => true);
      // The settings use the names of the server.
      const tools = found.tools.filter(({ listed }) => isAllowed(listed.name.slice(prefix.length)));
      return { name, tools, findings: upstreamFindings(name, found, tools) };
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : 'cannot be started';
      const advice = `Check the command or the address of ${name} in the configuration.`;
      const failed = { status: 'fail', what: `upstream ${name}`, detail, advice } as const;
      return { name, tools: [], findings: [failed] };
    }
  });
  const all = await Promise.all(inspected);
  return [...all.flatMap(({ findings }) => findings), ...(isMerged ? conflicts(all) : [])];
}

const EFFECTS = ['read', 'idempotent', 'once'] as const;

/** What a lost answer means for a call. */
const RETRIES: Readonly<Record<EffectDecision['effect'], string>> = {
  read: 'retried',
  idempotent: 'retried',
  once: 'never repeated',
};

function upstreamFindings(
  name: string,
  found: Inspection,
  /** Those that a client can see and call. */
  tools: readonly GuardedTool[],
): readonly Finding[] {
  const { server, profile, warnings } = found;
  const counts = EFFECTS.map((effect) => {
    const count = tools.filter(({ decision }) => decision.effect === effect).length;
    return `${count} ${effect} (${RETRIES[effect]})`;
  });
  const known = profile === undefined ? 'no profile' : `profile of ${profile}`;
  const hidden = found.tools.length - tools.length;
  const left = hidden === 0 ? '' : ` (${hidden} left out by include and exclude)`;
  const detail = `${server.name} ${server.version}, ${tools.length} tools${left}: ${counts.join(', ')}; ${known}`;
  return [
    { status: 'ok', what: `upstream ${name}`, detail },
    ...warnings.map((text): Finding => ({
      status: 'warn',
      what: `upstream ${name}`,
      detail: text,
    })),
    ...tools.map(toolFinding),
  ];
}

function toolFinding({ listed, decision }: GuardedTool): Finding {
  const { effect, why, evidence, when = [] } = decision;
  const cases = when.map(({ arguments: given, effect: then }) => {
    const condition = Object.entries(given).map(([name, value]) =>
      typeof value === 'object' && 'exists' in value
        ? `${name} is ${value.exists ? 'given' : 'missing'}`
        : `${name}=${[value].flat().join('|')}`,
    );
    return `${then} if ${condition.join(' and ')} (${RETRIES[then]})`;
  });
  const detail = [`${effect} (${RETRIES[effect]})`, ...cases].join(', ');
  const reason = evidence === undefined ? why : `profile: ${evidence}`;
  return { status: 'ok', what: `  ${listed.name}`, detail: `${detail}: ${reason}` };
}

/** Names that two upstreams use: the guard makes neither available. */
function conflicts(
  upstreams: readonly { readonly name: string; readonly tools: readonly GuardedTool[] }[],
): readonly Finding[] {
  const owners = new Map<string, string[]>();
  for (const { name, tools } of upstreams) {
    for (const { listed } of tools) {
      owners.set(listed.name, [...(owners.get(listed.name) ?? []), name]);
    }
  }
  return [...owners]
    .filter(([, names]) => names.length > 1)
    .map(([tool, names]) => ({
      status: 'fail',
      what: `tool ${tool}`,
      detail: `is in ${names.join(' and ')}, so neither is available`,
      advice: 'Set a "prefix" for one of them.',
    }));
}
