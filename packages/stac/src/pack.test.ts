import { describe, expect, it } from 'vitest';
import { configSchema } from './config.js';
import { stac } from './pack.js';

const describedCatalog = (config: object, tool: string, argument = 'catalog') => {
  const specs = stac.describe(configSchema.parse(config));
  const spec = specs.find(({ name }) => name === tool);
  const properties = spec?.inputSchema['properties'] as Record<string, { description: string }>;
  return properties[argument]?.description;
};

describe('the configured catalogues in instructions and descriptions', () => {
  it('lists the built-in ones in the instructions', () => {
    const text = stac.instructions!(configSchema.parse({}));
    expect(text).toContain('- earth-search (default): Earth Search by Element 84');
    expect(text).toContain('- planetary-computer: Microsoft Planetary Computer');
    expect(text).toContain('catalog "*"');
    expect(text).toContain('`catalog_url`');
  });

  it('describes configured ones by title, else by host', () => {
    const text = stac.instructions!(
      configSchema.parse({
        builtinCatalogs: false,
        allowCatalogUrl: false,
        defaultCatalog: 'b',
        catalogs: {
          a: { url: 'https://stac.example.com/v1', title: 'Aerial images\nof the city' },
          b: { url: 'https://data.example.com/stac' },
        },
      }),
    );
    expect(text).toContain('- a: Aerial images of the city\n- b (default): data.example.com\n');
    expect(text).not.toContain('catalog_url');
  });

  it('lists them in the argument of the search tools, and shortens a long list', () => {
    expect(describedCatalog({}, 'search_items')).toContain(
      'Configured: earth-search (default), planetary-computer.',
    );
    expect(describedCatalog({}, 'search_collections')).toContain('"*" for all');
    expect(describedCatalog({}, 'search_federated', 'catalogs')).toContain('planetary-computer');
    expect(describedCatalog({}, 'get_item')).not.toContain('planetary-computer');
    const many = Array.from({ length: 30 }, (_, i) => [`c${i}`, { url: 'https://a.example/' }]);
    const config = { builtinCatalogs: false, catalogs: Object.fromEntries(many) as object };
    expect(describedCatalog(config, 'search_items')).toMatch(/c0 \(default\), c1, .*, c7, …\.$/);
    expect(stac.instructions!(configSchema.parse(config)).split('\n').length).toBeLessThan(30);
  });
});
