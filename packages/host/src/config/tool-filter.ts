import type { Pack } from '@toolkeel/contract';
import { didYouMean } from '@toolkeel/pack-kit/base';
import * as z from 'zod';
import { explainIssue, type Mistake } from './explain.js';
import { isObject, type JsonObject, type Layer } from './layers.js';

const patterns = z.array(z.string().min(1));

/** `tools` in the section of a pack. The host applies it, so that it works for every pack. */
export const toolFilterSchema = z
  .strictObject({
    include: patterns
      .optional()
      .describe('Only these tools: names, or patterns such as "x_get_*".'),
    exclude: patterns.optional().describe('Not these tools. Takes precedence over include.'),
  })
  .describe('Which tools of the pack the server registers. Default: those of the profile.');

/** The filters of a layer by pack, and the layer without them: they are not settings of the packs. */
export function takeToolFilters({ values, originOf }: Layer): {
  readonly layer: Layer;
  readonly filters: ReadonlyMap<string, unknown>;
} {
  const filters = new Map<string, unknown>();
  const { packs } = values;
  if (!isObject(packs)) return { layer: { values, originOf }, filters };
  const rest: JsonObject = Object.fromEntries(
    Object.entries(packs).map(([name, section]) => {
      if (!isObject(section) || !('tools' in section)) return [name, section];
      const { tools, ...settings } = section;
      filters.set(name, tools);
      return [name, settings];
    }),
  );
  return { layer: { values: { ...values, packs: rest }, originOf }, filters };
}

/** The tools of a pack that its filter excludes, and the mistakes in the filter. */
export function excludedTools(
  pack: Pick<Pack, 'name' | 'describe'>,
  filter: unknown,
): { readonly excluded: readonly string[]; readonly mistakes: readonly Mistake[] } {
  const path = ['packs', pack.name, 'tools'];
  const at = (mistake: Mistake): Mistake => ({ ...mistake, path: [...path, ...mistake.path] });
  const parsed = toolFilterSchema.safeParse(filter, { reportInput: true });
  if (!parsed.success) {
    const found = parsed.error.issues.flatMap((issue) => explainIssue(toolFilterSchema, issue));
    return { excluded: [], mistakes: found.map(at) };
  }
  const { include, exclude = [] } = parsed.data;
  const names = pack.describe().map(({ name }) => name);
  const mistakes = Object.entries(parsed.data).flatMap(([list, given = []]) =>
    given.flatMap((pattern, index): Mistake[] => {
      if (names.some(matcher(pattern))) return [];
      const message = pattern.includes('*')
        ? 'matches no tool of the pack.'
        : `unknown tool "${pattern}".${didYouMean(pattern, names)}`;
      return [{ path: [list, index], message }];
    }),
  );
  const isIn = (list: readonly string[], name: string) => list.some((one) => matcher(one)(name));
  const isListed = (name: string) => (!include || isIn(include, name)) && !isIn(exclude, name);
  return { excluded: names.filter((name) => !isListed(name)), mistakes: mistakes.map(at) };
}

/** `*` stands for any characters. */
function matcher(pattern: string): (name: string) => boolean {
  const parts = pattern
    .split('*')
    .map((part) => part.replaceAll(/[^a-zA-Z0-9_]/g, String.raw`\$&`));
  const whole = new RegExp(`^${parts.join('.*')}$`);
  return (name) => whole.test(name);
}
