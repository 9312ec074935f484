import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import type { Client } from '../api/client.js';
import { conformsTo } from '../api/conformance.js';
import { catalogCodes } from '../faults.js';
import { catalogArguments, idList } from './arguments.js';
import { catalogTool, readTraits } from './tool.js';

export const getConformanceSpec = specifyTool({
  ...readTraits,
  name: 'get_conformance',
  title: 'Conformance classes',
  description:
    'Lists the conformance classes that a STAC API names, and says of given ones whether it names them, in whatever version.',
  input: z.object({
    check: idList.optional().describe('Conformance URIs to look for.'),
    ...catalogArguments,
  }),
  output: z.object({
    catalog: z.string(),
    conforms_to: z.array(z.string()),
    checks: z.array(z.object({ uri: z.string(), conforms: z.boolean() })).optional(),
  }),
  errors: catalogCodes,
});

export const getConformance = (client: Client) =>
  catalogTool(getConformanceSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const landing = await client.landing(catalog, scope, { fresh: true });
    const classes = landing.conformsTo;
    const checks = args.check?.map((uri) => ({ uri, conforms: conformsTo(classes, uri) }));
    return {
      catalog: catalog.name,
      conforms_to: [...classes],
      ...(checks && { checks }),
    };
  });
