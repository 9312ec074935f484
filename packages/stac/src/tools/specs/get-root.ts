import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { catalogArguments, outputFormat } from './arguments.js';
import { readTraits } from './traits.js';

export const getRootSpec = specifyTool({
  ...readTraits,
  name: 'get_root',
  title: 'Catalogue root',
  description:
    'Reads the landing page of a STAC catalogue: what it is, which version it speaks, how many links it has and which collections or children it names.',
  input: z.object({ output_format: outputFormat, ...catalogArguments }),
  output: z.object({
    catalog: z.string(),
    url: z.string(),
    id: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    stac_version: z.string().optional(),
    kind: z.enum(['api', 'static']),
    links_count: z.int(),
    conformance_count: z.int(),
    children: z.array(z.object({ title: z.string().optional(), href: z.string() })),
    document: z
      .looseObject({})
      .optional()
      .describe('With output_format "json": the landing page without its links.'),
    warnings: z.array(z.string()),
  }),
  errors: catalogCodes,
});
