import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { configJsonSchema } from './schema.js';

const shipped = fileURLToPath(new URL('config.schema.json', import.meta.url));

it('matches the published schema', async () => {
  const schema = await configJsonSchema();
  // After a change: UPDATE_SCHEMA=1 npx vitest run schema && npm run format
  if (process.env['UPDATE_SCHEMA']) writeFileSync(shipped, JSON.stringify(schema, null, 2));
  expect(JSON.parse(readFileSync(shipped, 'utf8'))).toEqual(schema);
});

it('includes the sections of the policy', async () => {
  expect(await configJsonSchema()).toMatchObject({
    type: 'object',
    additionalProperties: false,
    properties: {
      profile: { enum: ['readonly', 'api', 'workflow'], default: 'readonly' },
      rules: { items: { properties: { when: { $ref: '#/$defs/policyCondition' } } } },
      notify: { properties: { webhook: {}, command: {} } },
    },
    $defs: { policyCondition: { properties: { tool: {} } } },
  });
});
