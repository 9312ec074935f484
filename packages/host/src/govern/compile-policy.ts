import { acceptControls, type Profile, type ToolSpec } from '@toolkeel/contract';
import { templateProblem } from '@toolkeel/journal/tools';
import type { Policy } from '@toolkeel/policy';
import { POLICY_SECTIONS } from '../config/governing.js';
import type { LoadedConfig, Mistake } from '../config/load.js';
import { didYouMean } from '@toolkeel/pack-kit';

export type PolicyInput = Pick<LoadedConfig, 'config' | 'mistakes'>;

/** Whether the configuration says anything of what may be done. */
export function hasRules({ config }: PolicyInput): boolean {
  return POLICY_SECTIONS.some((name) => config[name] !== undefined);
}

/** The policy that the configuration describes. Throws a ConfigError that names every mistake. */
export async function policyOf(
  { config, mistakes }: PolicyInput,
  tools: readonly ToolSpec[],
): Promise<Policy> {
  const { compilePolicy } = await import('@toolkeel/policy');
  const said = Object.fromEntries(
    (['mode', ...POLICY_SECTIONS] as const)
      .filter((name) => config[name] !== undefined)
      .map((name) => [name, config[name]]),
  );
  const profile: Profile = config.profile;
  const compiled = compilePolicy(said, { profile, tools: tools.map(acceptControls) });
  if (compiled.ok) return compiled.policy;
  throw mistakes(compiled.issues);
}

/**
 * What the configuration says makes two calls the same act, for tools that are here. Throws a
 * ConfigError for a template that could never give a key: it would be a promise that nobody keeps.
 */
export function keyTemplates(
  { config, mistakes }: PolicyInput,
  here: readonly ToolSpec[],
  known: readonly ToolSpec[],
): Readonly<Record<string, string>> {
  const entries = Object.entries(config.journal.keys);
  const wrong = entries.flatMap(([name, template]): Mistake[] => {
    const path = ['journal', 'keys', name];
    const spec = known.find((tool) => tool.name === name);
    if (!spec) {
      const names = known.filter(({ mutation }) => mutation).map((tool) => tool.name);
      return [{ path, message: `is no tool here.${didYouMean(name, names)}` }];
    }
    const message = templateProblem(spec, template);
    return message === undefined ? [] : [{ path, message }];
  });
  if (wrong.length > 0) throw mistakes(wrong);
  return Object.fromEntries(entries.filter(([name]) => here.some((tool) => tool.name === name)));
}
