import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { upstreamsSchema } from '@toolkeel/guard';
import { configJsonSchema } from '@toolkeel/host';
import { expect, it } from 'vitest';
import { cliPack, packNames } from './packs.js';

const published = fileURLToPath(new URL('config.schema.json', import.meta.url));

it('the published schema is up to date, with the settings of every pack', async () => {
  const bindings = await Promise.all(packNames.map((name) => cliPack(name).load()));
  const schema = await configJsonSchema({
    packs: bindings.map(({ pack }) => pack),
    sections: { upstreams: upstreamsSchema },
  });
  // After an intended change: UPDATE_SCHEMA=1 npx vitest run schema && npm run format
  if (process.env['UPDATE_SCHEMA']) writeFileSync(published, JSON.stringify(schema, null, 2));
  expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(schema);
  expect(schema).toMatchObject({
    properties: { packs: { properties: { stac: { properties: { catalogs: {} } } } } },
  });
});
