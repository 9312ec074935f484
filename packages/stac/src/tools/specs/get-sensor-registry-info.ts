import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { anyOutputFormat } from './arguments.js';
import { readTraits } from './traits.js';

export const getSensorRegistryInfoSpec = specifyTool({
  ...readTraits,
  name: 'get_sensor_registry_info',
  title: 'Sensor registry',
  description:
    'Lists the collections whose raster data types are built in. estimate_data_size uses them for items that omit data types. Sends no request.',
  input: z.object({ output_format: anyOutputFormat }),
  output: z.object({
    count: z.int(),
    sensors: z.array(
      z.object({
        collection: z.string().describe('The collection id, in any case.'),
        data_type: z.string(),
        assets: z
          .record(z.string(), z.string())
          .optional()
          .describe('Assets with another data type, by key in any case.'),
      }),
    ),
  }),
  errors: [],
});
