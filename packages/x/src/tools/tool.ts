import type { CheckContext, ToolContext } from '@toolkeel/contract';
import { asFault, callContextOf, createToolFactory, type CallContext } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { routes, toolRoutes } from '../api/routes.js';
import { faultToError, otherLogin } from '../faults.js';
import { requireTier } from '../tier.js';

/** A tool that describes this installation. It reports failures of X as data and never fails itself. */
export const aboutTool = createToolFactory({
  callOf: ({ clock, capMs }: Client, context) => callContextOf(context, clock.now(), capMs),
  common: ({ config }) => ({ account: config.account }),
});

/** A tool that calls X. All requests of one call share its deadline. */
export const xTool = createToolFactory({
  callOf: (client: Client, context) => ({ call: callOf(client, context), context }),
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

/** Writes fail if the credential now belongs to another account than the call was accepted for. */
function callOf({ clock, capMs, account }: Client, context: ToolContext): CallContext {
  const { operation } = context;
  const acceptedFor = account.current();
  const call = callContextOf(context, clock.now(), capMs, async (signal) => {
    const isSame = operation
      ? await account.isOwn(operation.account, { ...call, signal })
      : account.current() === acceptedFor;
    if (!isSame) throw asFault(otherLogin());
  });
  return call;
}

/** Runs before all other checks: a missing credential is the first error to report. */
async function requireCredentials({ session }: Client, tool: string): Promise<void> {
  for (const name of toolRoutes[tool] ?? []) {
    await session.credentialFor(routes[name]).scopes();
  }
}
