import * as z from 'zod';
import { configSchema, type SchemaOptions } from './schema.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema of the configuration file, for editors. */
export async function configJsonSchema(options: SchemaOptions = {}): Promise<JsonSchema> {
  const { policyJsonSchema } = await import('@toolkeel/policy');
  const policy = policyJsonSchema();
  const { $schema, ...schema } = z.toJSONSchema(configSchema(options), {
    io: 'input',
    unrepresentable: 'any',
  });
  return {
    $schema,
    title: 'Configuration of Toolkeel',
    ...schema,
    properties: { ...schema.properties, ...policy.properties },
    $defs: { ...schema.$defs, ...policy.$defs },
  };
}
