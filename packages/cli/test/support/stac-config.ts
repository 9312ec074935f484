import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The settings of a server that knows these catalogues and nobody else; the first is its default. */
export function writeStacConfig(
  dir: string,
  catalogs: Readonly<Record<string, object>>,
  more: object = {},
  file = 'toolkeel.config.json',
): void {
  const [defaultCatalog] = Object.keys(catalogs);
  const stac = { catalogs, defaultCatalog, builtinCatalogs: false, ...more };
  writeFileSync(join(dir, file), JSON.stringify({ packs: { stac } }));
}
