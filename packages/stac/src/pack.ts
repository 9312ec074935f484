import type { Pack, ToolSpec } from '@toolkeel/contract';
import type { NetworkRules } from '@toolkeel/pack-kit';
import { objectOf, oneLine, type Environment } from '@toolkeel/pack-kit/base';
import { catalogsOf, configSchema, defaultCatalogOf, type StacConfig } from './config.js';
import { specs } from './tools/specs/index.js';

/** The process environment and the network rules, which tests replace. */
export interface RuntimeContext extends NetworkRules {
  readonly env?: Environment;
}

/** `describe` loads the tool specs only; the handlers are loaded by `create`. */
export function createStacPack(runtime: RuntimeContext = {}): Pack<typeof configSchema> {
  return {
    name: 'stac',
    configSchema,
    describe: (config) => (config ? withCatalogNames(specs, config) : specs),
    instructions: instructionsFor,
    create: async (config, deps) => {
      const { createInstance } = await import('./instance.js');
      return createInstance(config, deps, runtime);
    },
  };
}

/** The STAC pack. */
export const stac = createStacPack();

/** Repeated in several tools, so the list must stay short. */
const MAX_NAMES = 8;
const MAX_LINES = 20;

/** The server instructions: the configured catalogues and how to search them. */
function instructionsFor(config: StacConfig): string {
  const all = Object.entries(catalogsOf(config));
  const lines = all.slice(0, MAX_LINES).map(([name, { url, title }]) => {
    const isDefault = name === defaultCatalogOf(config) ? ' (default)' : '';
    return `- ${name}${isDefault}: ${oneLine(title ?? new URL(url).host, 160)}`;
  });
  const more = all.length - lines.length;
  return [
    'STAC catalogues, for the argument `catalog`:',
    ...lines,
    ...(more > 0 ? [`- ${more} more: get_catalog_capabilities lists them`] : []),
    'search_collections with catalog "*" searches all of them for a collection; search_federated searches several for items.',
    ...(config.allowCatalogUrl ? ['`catalog_url` takes any other public STAC catalogue.'] : []),
  ].join('\n');
}

/** Adds the names of the configured catalogues to the tools that a session starts with. */
function withCatalogNames(tools: readonly ToolSpec[], config: StacConfig): readonly ToolSpec[] {
  const main = defaultCatalogOf(config);
  const names = Object.keys(catalogsOf(config)).filter((name) => name !== main);
  const shown = [`${main} (default)`, ...names].slice(0, MAX_NAMES);
  const list = `${shown.join(', ')}${names.length >= MAX_NAMES ? ', …' : ''}`;
  return tools.map((spec) => {
    if (!spec.name.startsWith('search_')) return spec;
    const properties = objectOf(spec.inputSchema['properties']) ?? {};
    const described = ['catalog', 'catalogs'].flatMap((argument) => {
      const schema = objectOf(properties[argument]);
      const description = `${String(schema?.['description'])} Configured: ${list}.`;
      return schema ? [[argument, { ...schema, description }] as const] : [];
    });
    const inputSchema = {
      ...spec.inputSchema,
      properties: { ...properties, ...Object.fromEntries(described) },
    };
    return Object.freeze({ ...spec, inputSchema });
  });
}
