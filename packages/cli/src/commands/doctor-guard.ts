import { inspectUpstream, type GuardedTool, type UpstreamConfig } from '@toolkeel/guard';
import type { LoadedConfig } from '@toolkeel/host';
import type { Finding } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

/** Starts each guarded server, and lists the effects of its tools with the reasons. */
export async function checkGuarded(
  loaded: LoadedConfig,
  env: RuntimeContext['env'],
): Promise<readonly Finding[]> {
  const upstreams = (loaded.config.upstreams ?? {}) as Readonly<Record<string, UpstreamConfig>>;
  const findings = Object.entries(upstreams).map(async ([name, config]) => {
    try {
      const tools = await inspectUpstream({ loaded, name, config, env: { ...env } });
      return effectFindings(name, tools);
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : 'cannot be started';
      const advice = `Check upstreams.${name} in the configuration.`;
      return [{ status: 'fail', what: `upstream ${name}`, detail, advice } as const];
    }
  });
  return (await Promise.all(findings)).flat();
}

function effectFindings(name: string, tools: readonly GuardedTool[]): readonly Finding[] {
  const effects = ['read', 'idempotent', 'once'] as const;
  return effects.flatMap((effect): Finding[] => {
    const found = tools.filter(({ decision }) => decision.effect === effect);
    if (found.length === 0) return [];
    const list = found.map(({ listed, decision }) => `${listed.name} (${decision.why})`);
    return [{ status: 'ok', what: `upstream ${name}: ${effect}`, detail: list.join(', ') }];
  });
}
