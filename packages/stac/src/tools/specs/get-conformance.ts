import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { anyOutputFormat, catalogArguments, idList } from './arguments.js';
import { readTraits } from './traits.js';

export const getConformanceSpec = specifyTool({
  ...readTraits,
  name: 'get_conformance',
  title: 'Conformance classes',
  description:
    'Lists the conformance classes that a STAC API names, and says of given ones whether it names them, in whatever version.',
  input: z.object({
    check: idList.optional().describe('Conformance URIs to look for.'),
    output_format: anyOutputFormat,
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    conforms_to: z.array(z.string()),
    checks: z.array(z.object({ uri: z.string(), conforms: z.boolean() })).optional(),
  }),
  errors: catalogCodes,
});
