import { inspectUpstream, listingView, prefixOf, type ListedTool } from '@toolkeel/guard';
import type { LoadedConfig } from '@toolkeel/host';
import { pretty, table } from '../operator/format.js';
import type { RuntimeContext } from '../runtime.js';
import { loadTokenCounter } from '../tokens.js';
import type { ChosenUpstream } from './host-upstreams.js';
import { listedCost } from './manifest-tokens.js';

interface Cost {
  readonly tools: number;
  readonly total: number;
  /** Names, descriptions and input schemas: what a model sees. */
  readonly visible: number;
  readonly most_expensive: { readonly tool: string; readonly tokens: number };
}

interface UpstreamCost {
  readonly upstream: string;
  readonly before: Cost;
  readonly after: Cost;
}

/**
 * Prints what listing the tools of each server costs of a model's context, in o200k tokens: as the server
 * lists them, and as a client of the guard sees them. Returns 1 if a server could not be asked.
 */
export async function printTokens(
  upstreams: readonly ChosenUpstream[],
  { json }: { readonly json?: boolean },
  loaded: LoadedConfig,
  runtime: RuntimeContext,
): Promise<number> {
  const { stdout, stderr, env } = runtime;
  const count = loadTokenCounter();
  const costs: UpstreamCost[] = [];
  for (const { name, config } of upstreams) {
    try {
      // Settings use the names of the server.
      const bare = { ...config, prefix: '' };
      const { tools } = await inspectUpstream({ loaded, name, config: bare, env: { ...env } });
      const prefix = upstreams.length > 1 ? prefixOf(name, config) : (config.prefix ?? '');
      const listed = tools.map((tool) => tool.listed);
      const seen = listingView(config)?.(listed) ?? listed;
      const after = seen.map((tool) => ({ ...tool, name: prefix + tool.name }));
      costs.push({ upstream: name, before: costOf(listed, count), after: costOf(after, count) });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : 'cannot be started';
      stderr.write(`toolkeel: ${name}: ${why}\n`);
    }
  }
  if (json) stdout.write(`${pretty(costs)}\n`);
  else stdout.write(table(HEAD, costs.flatMap(rowsOf), runtime));
  return costs.length === upstreams.length ? 0 : 1;
}

const HEAD = ['UPSTREAM', 'LISTING', 'TOOLS', 'TOKENS', 'A TOOL', 'VISIBLE', 'MOST EXPENSIVE'];

function rowsOf({ upstream, before, after }: UpstreamCost): readonly (readonly string[])[] {
  const rowOf = (title: string, { tools, total, visible, most_expensive: most }: Cost) => [
    upstream,
    title,
    String(tools),
    String(total),
    String(tools === 0 ? 0 : Math.round(total / tools)),
    String(visible),
    most.tool === '' ? '' : `${most.tool} (${most.tokens})`,
  ];
  return [rowOf('of the server', before), rowOf('of the guard', after)];
}

function costOf(listed: readonly ListedTool[], count: (text: string) => number): Cost {
  const measured = listed.map((tool) => ({ tool: tool.name, ...listedCost(tool, count) }));
  const [most] = measured.toSorted((one, other) => other.total - one.total);
  return {
    tools: measured.length,
    total: measured.reduce((sum, { total }) => sum + total, 0),
    visible: measured.reduce((sum, { visible }) => sum + visible, 0),
    most_expensive: { tool: most?.tool ?? '', tokens: most?.total ?? 0 },
  };
}
