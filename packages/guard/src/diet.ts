import { templateArguments } from '@toolkeel/contract';
import { didYouMean } from '@toolkeel/pack-kit/base';
import type { UpstreamConfig } from './config.js';
import { matchesPattern, rulesFor, type ListedTool } from './effects.js';
import { toolEnvelopes } from './envelope.js';
import { objectIn } from './frame.js';

type Shaped = Pick<
  UpstreamConfig,
  | 'include'
  | 'exclude'
  | 'tools'
  | 'maxDescriptionChars'
  | 'dropOutputSchemas'
  | 'maxResultBytes'
  | 'envelope'
>;

/** Whether a tool may be listed and called. Undefined: all tools may. */
export function toolFilter({
  include,
  exclude,
}: Pick<Shaped, 'include' | 'exclude'>): ((name: string) => boolean) | undefined {
  if (!include && exclude.length === 0) return undefined;
  const isIn = (patterns: readonly string[], name: string): boolean =>
    patterns.some((pattern) => matchesPattern(pattern, name));
  return (name) => (!include || isIn(include, name)) && !isIn(exclude, name);
}

/** Names and patterns of settings that fit none of the tools. */
export function unusedPatterns(
  { include = [], exclude, tools }: Pick<Shaped, 'include' | 'exclude' | 'tools'>,
  names: readonly string[],
): readonly string[] {
  const given = new Set([...include, ...exclude, ...Object.keys(tools)]);
  return [...given].filter((pattern) => !names.some((name) => matchesPattern(pattern, name)));
}

/**
 * What settings name that is not there: a template with an argument that no call has never applies, which
 * is noticed only when an act was repeated.
 */
export function unknownNames(
  { tools }: Pick<Shaped, 'tools'>,
  listed: readonly ListedTool[],
  prefix: string,
): readonly string[] {
  const names = new Set(listed.map(({ name }) => name));
  const bare = (name: string): string => name.slice(prefix.length);
  return listed.flatMap((tool) => {
    const rules = Object.hasOwn(tools, tool.name) ? tools[tool.name] : undefined;
    if (!rules) return [];
    const { key = '', reconcile, idempotencyArgument } = rules;
    const known = Object.keys(objectIn(tool.inputSchema, 'properties'));
    const used = [
      ...templateArguments(key),
      ...(reconcile ? templatesIn({ ...reconcile.arguments, ...reconcile.match }) : []),
      ...(idempotencyArgument === undefined ? [] : [idempotencyArgument]),
    ];
    const missing = known.length === 0 ? [] : used.filter((name) => !known.includes(name));
    const problems = [...new Set(missing)].map(
      (name) => `${bare(tool.name)} has no argument ${name}.${didYouMean(name, known)}`,
    );
    const isRead = reconcile === undefined || names.has(reconcile.tool);
    if (isRead) return problems;
    const read = bare(reconcile.tool);
    const other = `${bare(tool.name)} cannot be reconciled with ${read}, which is not listed.`;
    return [...problems, other + didYouMean(read, [...names].map(bare))];
  });
}

function templatesIn(templates: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.values(templates).flatMap((template) =>
    typeof template === 'string' ? templateArguments(template) : [],
  );
}

/** The text of a tool's results may be cut to this number of bytes. */
export function resultBudget(name: string, config: Pick<Shaped, 'tools' | 'maxResultBytes'>) {
  return rulesFor(name, config.tools)?.maxResultBytes ?? config.maxResultBytes;
}

/** Whether the text of any tool's results may be cut. */
export function cutsResults({ tools, maxResultBytes }: Pick<Shaped, 'tools' | 'maxResultBytes'>) {
  const own = Object.values(tools).some((rules) => rules.maxResultBytes !== undefined);
  return own || maxResultBytes !== undefined;
}

/** The listing as a client sees it. Undefined: as the server sends it. */
export function listingView(
  config: Shaped,
): ((tools: readonly ListedTool[]) => readonly ListedTool[]) | undefined {
  const { tools, maxDescriptionChars, dropOutputSchemas, envelope } = config;
  const isAllowed = toolFilter(config);
  const describes = Object.values(tools).some(({ description }) => description !== undefined);
  const isShortened = describes || maxDescriptionChars !== undefined;
  const changesSchemas = dropOutputSchemas || envelope || cutsResults(config);
  if (!isAllowed && !isShortened && !changesSchemas) return undefined;
  const shape = (tool: ListedTool): ListedTool => {
    const budget = resultBudget(tool.name, config);
    const { outputSchema, ...rest } = described(tool, config);
    if (dropOutputSchemas) return rest;
    if (envelope) return { ...rest, outputSchema: toolEnvelopes(tool, !budget).outputSchema };
    // A result that was cut would not match it, and clients reject such results.
    return outputSchema && budget === undefined ? { ...rest, outputSchema } : rest;
  };
  return (listed) => listed.filter(({ name }) => isAllowed?.(name) ?? true).map(shape);
}

function described(tool: ListedTool, { tools, maxDescriptionChars }: Shaped): ListedTool {
  const { description } = tool;
  const given = rulesFor(tool.name, tools)?.description;
  if (given !== undefined) return { ...tool, description: given };
  if (description === undefined || !maxDescriptionChars) return tool;
  return { ...tool, description: shorten(description, maxDescriptionChars) };
}

/** Whole sentences if one fits, else whole words. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, limit);
  const sentences = /^[^]*[.!?](?=\s)/.exec(text.slice(0, limit + 1))?.[0].trimEnd();
  if (sentences !== undefined && sentences.length >= limit / 3) return sentences;
  const words = head.slice(0, limit - 1).replace(/\s+\S*$/, '');
  return `${words.replace(/[\uD800-\uDBFF]$/, '')}…`;
}
