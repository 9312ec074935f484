import { expect, it } from 'vitest';
import { configJsonSchema } from './json-schema.js';

it('is the schema that we ship', async () => {
  // After a change of the schema: npx vitest run -u json-schema
  const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('./config.schema.json');
});

it('names what a file may hold', () => {
  expect(configJsonSchema()).toMatchObject({
    type: 'object',
    additionalProperties: false,
    properties: { profile: { enum: ['readonly', 'api', 'workflow'], default: 'readonly' } },
  });
});
