import type { ToolSpec } from '@toolkeel/contract';
import { EFFECTS, unlistedSpec } from './tools.js';
import { isObject, objectIn } from './frame.js';

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

/**
 * The tools with the arguments that rules name: a schema that is open to others accepts them too. A
 * closed schema stays as it is.
 */
export function withNamedArguments(
  config: Members,
  tools: readonly ToolSpec[],
): readonly ToolSpec[] {
  const names = new Set<string>();
  collectArguments([config['rules'], config['limits']], names);
  return tools.map((tool) => {
    const schema = tool.inputSchema;
    const isClosed = [schema['additionalProperties'], schema['unevaluatedProperties']].includes(
      false,
    );
    if (isClosed) return tool;
    const named = Object.fromEntries([...names].map((name) => [name, {}]));
    const properties = { ...named, ...objectIn(schema, 'properties') };
    return { ...tool, inputSchema: { ...schema, properties } };
  });
}

/** The first names of paths such as `args.x.y`. */
function collectArguments(value: unknown, names: Set<string>): void {
  if (Array.isArray(value)) return value.forEach((item) => collectArguments(item, names));
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const [, name] = /^args\.([^.[\]]+)/.exec(key) ?? [];
    if (name !== undefined) names.add(name);
    collectArguments(member, names);
  }
}
