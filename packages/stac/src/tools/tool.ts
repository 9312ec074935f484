import {
  implementTool,
  type ErrorCode,
  type HandlerResult,
  type ObjectSchema,
  type OutputOf,
  type Schema,
  type Tool,
  type ToolContext,
  type ToolSpec,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { faultToError } from '../faults.js';
import { TargetRefused } from '../reach/target.js';
import { scopeOf, type Scope } from '../scope.js';

/** A call, as a tool's own code sees it. */
export interface Run<Cursor = unknown> {
  readonly client: Client;
  readonly scope: Scope;
  readonly cursor: Cursor | undefined;
}

/** A tool that talks to catalogues: all its requests share one deadline. */
export function catalogTool<
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
): Tool<In, Out> {
  const handler = async (args: OutputOf<In>, context: ToolContext<OutputOf<Cursor>>) => {
    const scope = scopeOf(context, client.now(), client.capMs);
    try {
      return await run(args, { client, scope, cursor: context.cursor });
    } catch (cause) {
      throw asFault(cause);
    }
  };
  return implementTool(spec, {
    handler,
    // Every tool of this pack declares the codes that it maps to: `catalogCodes`.
    faultToError: faultToError as never,
  });
}

/** An address that was refused before a request was made of it. */
export function asFault(cause: unknown): unknown {
  if (!(cause instanceof TargetRefused)) return cause;
  return new FaultError({ kind: 'rejected', sent: 'no', cause });
}
