import {
  implementTool,
  type CheckContext,
  type ErrorCode,
  type HandlerResult,
  type Tool,
  type ToolBehaviour,
  type ToolContext,
  type ToolSpec,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type * as z from 'zod';
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
export function aboutTool<In extends z.ZodObject, Out extends z.ZodType>(
  spec: ToolSpec<In, Out, never, z.ZodNever, z.ZodNever>,
  client: Client,
  run: (
    args: z.output<In>,
    scope: Scope,
  ) => Promise<HandlerResult<Out, never, z.ZodNever, z.ZodNever>>,
): Tool<In, Out> {
  return implementTool(spec, {
    account: client.config.account,
    handler: (args: z.output<In>, context: ToolContext<never>) =>
      run(args, scopeOf(context, client.clock.now(), client.capMs)),
  });
}

/** A tool that talks to X: all its requests share one deadline. */
export function xTool<
  In extends z.ZodObject,
  Out extends z.ZodType,
  Code extends ErrorCode,
  Partial extends z.ZodType,
  Cursor extends z.ZodType,
>(
  spec: ToolSpec<In, Out, Code, Partial, Cursor>,
  client: Client,
  run: (
    args: z.output<In>,
    call: Run<z.output<Cursor>>,
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
      accountId: (_: z.output<In>, context: CheckContext) => account.resolve(context),
    }),
    check: async (args: z.output<In>, context: CheckContext) => {
      if (!context.argumentsOnly) await demandCredentials(client, spec.name);
      demandTier(spec.name, client.config);
      return behaviour.check?.(args, context);
    },
    handler: (args: z.output<In>, context: ToolContext<z.output<Cursor>>) => {
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
