import { callContextOf, createToolFactory, describeFailure } from '@toolkeel/pack-kit';
import { CatalogCall } from '../api/catalog-call.js';
import type { CatalogSelection } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import type { LandingPage } from '../api/landing.js';

/** A tool that sends requests to catalogues. `select` selects the catalogue that the arguments name. */
export const catalogTool = createToolFactory({
  callOf: (client: Client, toolContext, args: CatalogSelection) => {
    const context = callContextOf(toolContext, client.now(), client.capMs);
    return {
      context,
      select: () => new CatalogCall(client, client.catalogs.select(args), context),
    };
  },
});

export function conformanceWarning({ conformanceFault }: LandingPage): readonly string[] {
  if (!conformanceFault) return [];
  const code = describeFailure(conformanceFault)?.code ?? 'internal_error';
  return [
    `The catalogue's conformance page could not be read (${code}): capabilities are unknown.`,
  ];
}
