import type { CheckContext } from '@toolkeel/contract';
import { asFault, createToolFactory } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { routes, toolRoutes } from '../api/routes.js';
import { createCallContext } from '../call-context.js';
import { faultToError } from '../faults.js';
import { requireTier } from '../tier.js';

/** A tool that describes this installation. It reports failures of X as data and never fails itself. */
export const aboutTool = createToolFactory({
  callOf: ({ clock, capMs }: Client, context) => createCallContext(context, clock.now(), capMs),
  common: ({ config }) => ({ account: config.account }),
});

/** A tool that calls X. All requests of one call share its deadline. */
export const xTool = createToolFactory({
  callOf: ({ clock, capMs, account }: Client, context) => ({
    call: createCallContext(context, clock.now(), capMs, account),
    context,
  }),
  faultToError,
  common: (client, { name, mutation }) => ({
    account: client.config.account,
    ...(mutation && {
      accountId: (_: unknown, context: CheckContext) => client.account.resolve(context),
    }),
    check: async ({ argumentsOnly }) => {
      if (!argumentsOnly) await requireCredentials(client, name);
      requireTier(name, client.config);
    },
  }),
});

/** Runs before all other checks: a missing credential is the first error to report. */
async function requireCredentials({ session }: Client, tool: string): Promise<void> {
  try {
    for (const name of toolRoutes[tool] ?? []) {
      await session.credentialFor(routes[name]).scopes();
    }
  } catch (cause) {
    throw asFault(cause);
  }
}
