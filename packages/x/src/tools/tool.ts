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
import { routes, toolRoutes } from '../api/routes.js';
import { createCallContext, type CallContext } from '../call-context.js';
import { classify, faultToError } from '../faults.js';
import { requireTier } from '../tier.js';

/** What a tool's handler gets besides its arguments. */
interface ToolCall<Cursor = unknown> {
  readonly call: CallContext;
  readonly cursor: Cursor | undefined;
  readonly context: ToolContext<Cursor>;
}

/** A tool that describes this installation. It reports failures of X as data and never fails itself. */
export function aboutTool<In extends ObjectSchema, Out extends Schema>(
  spec: ToolSpec<In, Out, never, NoSchema, NoSchema>,
  client: Client,
  run: (
    args: OutputOf<In>,
    call: CallContext,
  ) => Promise<HandlerResult<Out, never, NoSchema, NoSchema>>,
): Tool<In, Out> {
  return implementTool(spec, {
    account: client.config.account,
    handler: (args: OutputOf<In>, context: ToolContext<never>) =>
      run(args, createCallContext(context, client.clock.now(), client.capMs)),
  });
}

/** A tool that calls X. All requests of one call share its deadline. */
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
    toolCall: ToolCall<OutputOf<Cursor>>,
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
      if (!context.argumentsOnly) await requireCredentials(client, spec.name);
      requireTier(spec.name, client.config);
      return behaviour.check?.(args, context);
    },
    handler: (args: OutputOf<In>, context: ToolContext<OutputOf<Cursor>>) => {
      const call = createCallContext(context, clock.now(), capMs, account);
      return run(args, { call, cursor: context.cursor, context });
    },
    // Every tool that calls X declares `xCodes`, the codes of this mapping.
    faultToError: faultToError as never,
  });
}

/** Runs before all other checks: a missing credential is the first error to report. */
async function requireCredentials({ session }: Client, tool: string): Promise<void> {
  try {
    for (const name of toolRoutes[tool] ?? []) {
      await session.credentialFor(routes[name]).scopes();
    }
  } catch (cause) {
    throw new FaultError(classify(cause));
  }
}
