import type { Arguments, ToolSpec } from '@toolkeel/contract';

const MASKED = '[sensitive]';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The arguments as a person or an agent may see them. They are JSON: a mutation takes nothing else. */
export function maskSensitive(
  { sensitive }: Pick<ToolSpec, 'sensitive'>,
  args: Arguments,
): Record<string, Json> {
  const hidden: readonly string[] = sensitive;
  return Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, hidden.includes(name) ? MASKED : (value as Json)]),
  );
}
