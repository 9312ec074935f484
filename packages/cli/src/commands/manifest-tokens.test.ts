import { acceptControls, listTool, PROFILES } from '@toolkeel/contract';
import { hostToolSpecs } from '@toolkeel/host';
import { describe, expect, it } from 'vitest';
import { cliPack, packNames } from '../packs.js';
import { fakeRuntime } from '../runtime.fixture.js';
import { loadTokenCounter } from '../tokens.js';
import { groupTools, listingCosts, type ListingCost } from './manifest-tokens.js';
import { manifest } from './manifest.js';

/**
 * What the listings cost, in o200k tokens. A tool, an argument or a sentence that raises a total must be
 * worth it to every agent on every turn; lower a total when it has become smaller.
 */
const TOTALS: Readonly<Record<string, Partial<Record<ListingCost['profile'], number>>>> = {
  stac: { readonly: 5847, api: 5847, workflow: 5847 },
  x: { readonly: 6489, api: 10_887, workflow: 18_484 },
  github: { readonly: 4641, api: 9361, workflow: 9361 },
  llm: { readonly: 996, api: 996, workflow: 996 },
  host: { api: 629, workflow: 629 },
};

const groups = async () => {
  const bindings = await Promise.all(packNames.map((name) => cliPack(name).load()));
  return groupTools(bindings.map(({ pack }) => pack));
};

describe('the cost of a listing', async () => {
  const costs = listingCosts(await groups(), PROFILES);

  it.each(costs.filter(({ pack }) => pack !== 'all'))(
    'of $pack in $profile has not grown',
    ({ pack, profile, total, average }) => {
      const known = TOTALS[pack]?.[profile];
      if (known === undefined) throw new Error(`add ${pack}, ${profile}: ${total} to TOTALS`);
      expect(total).toBeLessThanOrEqual(known);
      expect(average).toBeLessThanOrEqual(450);
    },
  );

  it.each(costs.filter(({ pack }) => pack === 'all'))(
    'of $profile is within the budget',
    ({ average, visible_average: visible, most_expensive: most }) => {
      expect(average).toBeLessThanOrEqual(450);
      expect(visible).toBeLessThanOrEqual(200);
      expect(most.tokens).toBeLessThanOrEqual(900);
    },
  );

  it('includes at most 35 tokens for the arguments of the journal', async () => {
    const count = loadTokenCounter();
    const mutations = [...(await groups()).values()].flat().filter(({ mutation }) => mutation);
    expect(mutations.length).toBeGreaterThan(10);
    for (const tool of mutations) {
      const [before, after] = [tool, acceptControls(tool)]
        .map(listTool)
        .map((one) => JSON.stringify(one));
      expect(count(after ?? '') - count(before ?? '')).toBeLessThanOrEqual(35);
    }
  });

  it('of all GitHub tools, as a model sees them without the arguments of the journal, is at most 4,000', async () => {
    const count = loadTokenCounter();
    const { pack } = await cliPack('github').load();
    const visible = pack.describe().map((tool) => {
      const { name, description, inputSchema } = listTool(tool);
      return count(JSON.stringify({ name, description, inputSchema }));
    });
    expect(visible).toHaveLength(35);
    expect(Math.max(...visible)).toBeLessThanOrEqual(200);
    expect(visible.reduce((sum, cost) => sum + cost, 0)).toBeLessThanOrEqual(4000);
  });

  it('includes the tools of the host only where something can be changed', async () => {
    const reads = [...(await groups())].map(
      ([name, tools]) => [name, tools.filter(({ mutation }) => !mutation)] as const,
    );
    expect(listingCosts(new Map(reads), ['api']).map(({ pack }) => pack)).not.toContain('host');
    expect(hostToolSpecs().every(({ profiles }) => !profiles.includes('readonly'))).toBe(true);
  });
});

describe('toolkeel manifest --tokens', () => {
  it('prints a row for each pack and profile', async () => {
    const runtime = fakeRuntime({});
    expect(await manifest([], { tokens: true }, runtime)).toBe(0);
    const [head, ...rows] = runtime.output().trim().split('\n');
    expect(head).toMatch(/^PROFILE +PACK +TOOLS +TOKENS +A TOOL +VISIBLE +MOST EXPENSIVE$/);
    expect(rows).toContainEqual(
      expect.stringMatching(/^api +x +38 +\d+ +\d+ +\d+ +x_\w+ \(\d+\)$/),
    );
  });

  it('prints JSON, for one profile', async () => {
    const runtime = fakeRuntime({});
    await manifest([], { tokens: true, json: true, profile: 'readonly' }, runtime);
    expect(JSON.parse(runtime.output())).toContainEqual({
      pack: 'stac',
      profile: 'readonly',
      tools: 13,
      total: expect.any(Number) as unknown,
      average: expect.any(Number) as unknown,
      visible_average: expect.any(Number) as unknown,
      most_expensive: {
        tool: expect.any(String) as unknown,
        tokens: expect.any(Number) as unknown,
      },
    });
  });

  it('cannot be combined with --check', async () => {
    const both = manifest([], { tokens: true, check: true }, fakeRuntime({}));
    await expect(both).rejects.toThrow('--tokens and --check');
  });
});
