import type { ToolSpec } from '@toolkeel/contract';
import { EFFECTS, unlistedSpec } from './tools.js';
import { isObject } from './frame.js';

type Members = Readonly<Record<string, unknown>>;

/**
 * Tools that rules name, as far as they are not known: while an upstream is starting, its tools are
 * missing, but rules for them are no mistake. They may have any effect and any argument.
 */
export function expectedTools(config: Members, known: readonly ToolSpec[]): readonly ToolSpec[] {
  const names = new Set<string>();
  collect([config['rules'], config['limits']], names);
  const { blockedTools } = config;
  if (Array.isArray(blockedTools)) collectNames(blockedTools, names);
  const isKnown = new Set(known.map(({ name }) => name));
  const missing = [...names]
    .map((name) => name.replaceAll('*', 'x'))
    .filter((name) => !isKnown.has(name));
  return missing.flatMap((name) => EFFECTS.map((effect) => unlistedSpec(name, effect)));
}

/** The values of `tool` in conditions, at any depth. */
function collect(value: unknown, names: Set<string>): void {
  if (Array.isArray(value)) return value.forEach((item) => collect(item, names));
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === 'tool') collectNames(member, names);
    else collect(member, names);
  }
}

function collectNames(value: unknown, names: Set<string>): void {
  for (const name of [value].flat()) if (typeof name === 'string') names.add(name);
}
