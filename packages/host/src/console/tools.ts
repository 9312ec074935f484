import { createHash } from 'node:crypto';
import type { ToolInfo, ToolsResponse } from '@toolkeel/console';
import {
  buildManifest,
  codes,
  isRetryable,
  listTool,
  type ErrorCode,
  type ToolSpec,
} from '@toolkeel/contract';
import type { KnownProcess } from './process-view.js';

/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number;

/** The manifest as a page needs it. */
export function describeTools(
  specs: readonly ToolSpec[],
  profile: string,
  processes: readonly KnownProcess[],
  { count, canTry }: { readonly count: CountTokens | undefined; readonly canTry: boolean },
): ToolsResponse {
  const hashes = new Map(buildManifest(specs).tools.map((entry) => [entry.name, entry]));
  const tools = specs
    .map((spec): ToolInfo => {
      const { name, title, description, category, version, effect, mutation } = spec;
      const entry = hashes.get(name);
      const tokens = count && tokensOf(spec, count);
      return {
        name,
        title,
        description,
        category,
        version,
        effect,
        mutation,
        destructive: spec.destructive,
        open_world: spec.openWorld,
        profiles: spec.profiles,
        requires: spec.requires,
        possible_error_codes: spec.possibleCodes.map(describeCode),
        sensitive: spec.sensitive,
        input_schema: spec.inputSchema,
        output_schema: spec.dataSchema,
        input_schema_hash: entry?.input_schema_hash ?? hashOf(spec.inputSchema),
        output_schema_hash: entry?.output_schema_hash ?? hashOf(spec.dataSchema),
        ...(tokens && { tokens }),
        can_try: canTry && effect === 'read',
      };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const own = new Set(tools.map(({ name }) => name));
  const sum = (key: 'model' | 'listing'): number =>
    tools.reduce((total, { tokens }) => total + (tokens?.[key] ?? 0), 0);
  return {
    profile,
    tools,
    elsewhere: processes
      .filter(({ state }) => state === 'live')
      .flatMap(({ id, info }) =>
        info.packs
          .flatMap((pack) => pack.tools)
          .filter(({ name }) => !own.has(name))
          .map((tool) => ({ ...tool, process_id: id, process_name: info.name })),
      ),
    ...(count && { tokens: { model: sum('model'), listing: sum('listing') } }),
  };
}

function tokensOf(spec: ToolSpec, count: CountTokens): NonNullable<ToolInfo['tokens']> {
  const listed = listTool(spec);
  const { name, description, inputSchema } = listed;
  return {
    model: count(JSON.stringify({ name, description, inputSchema })),
    listing: count(JSON.stringify(listed)),
  };
}

function describeCode(code: ErrorCode): ToolInfo['possible_error_codes'][number] {
  const known: Readonly<Record<string, { readonly description: string } | undefined>> = codes;
  return { code, retryable: isRetryable(code), meaning: known[code]?.description ?? '' };
}

function hashOf(schema: object): string {
  return createHash('sha256').update(JSON.stringify(schema)).digest('hex');
}
