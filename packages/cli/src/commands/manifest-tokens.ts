import {
  acceptControls,
  listTool,
  PROFILES,
  type Pack,
  type Profile,
  type ToolSpec,
} from '@toolkeel/contract';
import { hostToolSpecs } from '@toolkeel/host';
import { table } from '../operator/format.js';
import type { RuntimeContext } from '../runtime.js';
import { loadTokenCounter } from '../tokens.js';

/** What the listing of a pack's tools costs in a profile, in o200k tokens. */
export interface ListingCost {
  readonly pack: string;
  readonly profile: Profile;
  readonly tools: number;
  readonly total: number;
  readonly average: number;
  /** Name, description and input schema: what a model sees of a tool. */
  readonly visible_average: number;
  readonly most_expensive: { readonly tool: string; readonly tokens: number };
}

/** The tools of each pack by its name. */
export type ToolGroups = ReadonlyMap<string, readonly ToolSpec[]>;

/** The tools of packs with their default settings, which some descriptions name. */
export function groupTools(packs: readonly Pack[]): ToolGroups {
  return new Map(
    packs.map((pack) => {
      const settings = pack.configSchema.safeParse({});
      return [pack.name, pack.describe(settings.success ? settings.data : undefined)];
    }),
  );
}

/** The costs by profile and pack; `host` are the tools that a host adds where something can be changed. */
export function listingCosts(groups: ToolGroups, profiles: readonly Profile[]): ListingCost[] {
  const count = loadTokenCounter();
  const measured = [...groups, ['host', hostToolSpecs()] as const].map(
    ([pack, tools]) => [pack, tools.map((tool) => measure(tool, count))] as const,
  );
  return profiles.flatMap((profile) => {
    const ofProfile = measured.map(([pack, tools]) => {
      return { pack, listed: tools.filter(({ profiles: own }) => own.includes(profile)) };
    });
    const mutates = ofProfile.some(({ listed }) => listed.some(({ mutation }) => mutation));
    const costs = ofProfile.filter(
      ({ pack, listed }) => listed.length > 0 && (pack !== 'host' || mutates),
    );
    const all = { pack: 'all', listed: costs.flatMap(({ listed }) => listed) };
    return [...costs, ...(costs.length > 1 ? [all] : [])].map(({ pack, listed }) => ({
      pack,
      profile,
      ...summarize(listed),
    }));
  });
}

interface Measured {
  readonly name: string;
  readonly profiles: readonly Profile[];
  readonly mutation: boolean;
  readonly total: number;
  readonly visible: number;
}

function measure(tool: ToolSpec, count: (text: string) => number): Measured {
  const listed = listTool(acceptControls(tool));
  const { profiles, mutation } = tool;
  return { name: listed.name, profiles, mutation, ...listedCost(listed, count) };
}

/** A tool of any server, as far as it is counted. */
interface Listed {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
}

/** The tokens of a tool in a listing, and of what a model sees of it. */
export function listedCost(
  listed: Listed,
  count: (text: string) => number,
): { readonly total: number; readonly visible: number } {
  const { name, description, inputSchema } = listed;
  return {
    total: count(JSON.stringify(listed)),
    visible: count(JSON.stringify({ name, description, inputSchema })),
  };
}

function summarize(tools: readonly Measured[]): Omit<ListingCost, 'pack' | 'profile'> {
  const total = tools.reduce((sum, tool) => sum + tool.total, 0);
  const visible = tools.reduce((sum, tool) => sum + tool.visible, 0);
  const [dearest] = tools.toSorted((a, b) => b.total - a.total);
  return {
    tools: tools.length,
    total,
    average: Math.round(total / tools.length),
    visible_average: Math.round(visible / tools.length),
    most_expensive: { tool: dearest?.name ?? '', tokens: dearest?.total ?? 0 },
  };
}

/** Prints the costs as a table or as JSON. */
export function printListingCosts(
  groups: ToolGroups,
  { profile, json }: { readonly profile?: Profile; readonly json?: boolean },
  runtime: RuntimeContext,
): void {
  const costs = listingCosts(groups, profile ? [profile] : PROFILES);
  if (json) {
    runtime.stdout.write(`${JSON.stringify(costs, null, 2)}\n`);
    return;
  }
  const rows = costs.map(({ most_expensive: { tool, tokens }, ...cost }) => [
    cost.profile,
    cost.pack,
    String(cost.tools),
    String(cost.total),
    String(cost.average),
    String(cost.visible_average),
    `${tool} (${tokens})`,
  ]);
  const head = ['PROFILE', 'PACK', 'TOOLS', 'TOKENS', 'A TOOL', 'VISIBLE', 'MOST EXPENSIVE'];
  runtime.stdout.write(table(head, rows, runtime));
}
