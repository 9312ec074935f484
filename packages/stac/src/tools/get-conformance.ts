import type { Client } from '../api/client.js';
import { conformsTo } from '../api/conformance.js';
import { catalogTool } from './tool.js';
import { getConformanceSpec } from './specs/get-conformance.js';

export const getConformance = (client: Client) =>
  catalogTool(getConformanceSpec, client, async (args, { scope }) => {
    const catalog = client.catalogs.choose(args);
    const landing = await client.landing(catalog, scope, { fresh: true });
    if (landing.conformanceFault) throw landing.conformanceFault;
    const classes = landing.conformsTo;
    const checks = args.check?.map((uri) => ({ uri, conforms: conformsTo(classes, uri) }));
    return {
      catalog: catalog.name,
      conforms_to: [...classes],
      ...(checks && { checks }),
    };
  });
