import {
  implementTool,
  type CheckContext,
  type ErrorCode,
  type HandlerResult,
  type NoSchema,
  type ObjectSchema,
  type OutputOf,
  type Schema,
  type Tool,
  type ToolBehaviour,
  type ToolContext,
  type ToolSpec,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { toolRoutes } from '../about/tool-routes.js';
import { routes } from '../api/routes.js';
import { classify, faultToError } from '../faults.js';
import { scopeOf, type Scope } from '../scope.js';
import { demandTier } from '../tier.js';

/** A call, as a tool's own code sees it. */
export interface Run<Cursor = unknown> {
  readonly scope: Scope;
  readonly cursor: Cursor | undefined;
  readonly context: ToolContext<Cursor>;
}

/** A tool about this installation. What goes wrong with X is a finding to it, not a failure. */
export function aboutTool<In extends ObjectSchema, Out extends Schema>(
  spec: ToolSpec<In, Out, never, NoSchema, NoSchema>,
  client: Client,
  run: (args: OutputOf<In>, scope: Scope) => Promise<HandlerResult<Out, never, NoSchema, NoSchema>>,
): Tool<In, Out> {
  return implementTool(spec, {
    account: client.config.account,
    handler: (args: OutputOf<In>, context: ToolContext<never>) =>
      run(args, scopeOf(context, client.clock.now(), client.capMs)),
  });
}

/** A tool that talks to X: all its requests share one deadline. */
export function xTool<
  In extends ObjectSchema,
  Out extends Schema,
  Code extends ErrorCode,
  Partial extends Schema,
  Cursor extends Schema,
>(
  spec: ToolSpec<In, Out, Code, Partial, Cursor>,
  client: Client,
  run: (
    args: OutputOf<In>,
    call: Run<OutputOf<Cursor>>,
  ) => Promise<HandlerResult<Out, Code, Partial, Cursor>>,
  behaviour: Pick<
    ToolBehaviour<In, Out, Code, Cursor, never>,
    'check' | 'estimateCost' | 'inverse' | 'normalize' | 'reconcile'
  > = {},
): Tool<In, Out> {
  const { account, clock, capMs } = client;
  return implementTool(spec, {
    ...behaviour,
    account: client.config.account,
    ...(spec.mutation && {
      accountId: (_: OutputOf<In>, context: CheckContext) => account.resolve(context),
    }),
    check: async (args: OutputOf<In>, context: CheckContext) => {
      if (!context.argumentsOnly) await demandCredentials(client, spec.name);
      demandTier(spec.name, client.config);
      return behaviour.check?.(args, context);
    },
    handler: (args: OutputOf<In>, context: ToolContext<OutputOf<Cursor>>) => {
      const scope = scopeOf(context, clock.now(), capMs, account);
      return run(args, { scope, cursor: context.cursor, context });
    },
    // Every tool of this pack declares the codes that it maps to: `xCodes`.
    faultToError: faultToError as never,
  });
}

/** Whoever has no credential is told so first, whatever else would be wrong with the call. */
async function demandCredentials({ session }: Client, tool: string): Promise<void> {
  try {
    for (const name of toolRoutes[tool] ?? []) {
      await session.credentialFor(routes[name]).scopes();
    }
  } catch (cause) {
    throw new FaultError(classify(cause));
  }
}
