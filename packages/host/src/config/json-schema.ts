import * as z from 'zod';
import { configSchema, type SchemaOptions } from './schema.js';

/** The JSON Schema of the configuration file, for editors. */
export function configJsonSchema(options: SchemaOptions = {}): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(configSchema(options), {
    io: 'input',
    unrepresentable: 'any',
  });
  return { $schema, title: 'Configuration of Toolkeel', ...schema };
}
