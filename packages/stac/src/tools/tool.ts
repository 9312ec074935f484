import {
  faultToError as defaultFaultToError,
  implementTool,
  isRetryable,
  isToolError,
  type ErrorCode,
  type HandlerResult,
  type ObjectSchema,
  type OutputOf,
  type Schema,
  type Tool,
  type ToolContext,
  type ToolError,
  type ToolSpec,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { CatalogCall } from '../api/catalog-call.js';
import type { Client } from '../api/client.js';
import type { LandingPage } from '../api/landing.js';
import { callContextOf, type CallContext } from '../call-context.js';
import { faultToError } from '../faults.js';
import { TargetNotAllowed } from '../http/ssrf.js';
import { memberOf } from '../json.js';

interface ToolCall<Cursor> {
  readonly context: CallContext;
  readonly cursor: Cursor | undefined;
  /** Selects the catalogue that the arguments name. */
  readonly select: () => CatalogCall;
}

/** A tool that sends requests to catalogues. All requests of a call share its deadline. */
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
    call: ToolCall<OutputOf<Cursor>>,
  ) => Promise<HandlerResult<Out, Code, Partial, Cursor>>,
): Tool<In, Out> {
  const handler = async (args: OutputOf<In>, toolContext: ToolContext<OutputOf<Cursor>>) => {
    const context = callContextOf(toolContext, client.now(), client.capMs);
    try {
      const select = () => new CatalogCall(client, client.catalogs.select(args), context);
      return await run(args, { context, cursor: toolContext.cursor, select });
    } catch (cause) {
      throw asFault(cause);
    }
  };
  return implementTool(spec, {
    handler,
    // Every tool of this pack declares the codes of this mapping: `catalogCodes`.
    faultToError: faultToError as never,
  });
}

/** A target that was rejected before its request is a fault like one rejected during it. */
export function asFault(cause: unknown): unknown {
  if (!(cause instanceof TargetNotAllowed)) return cause;
  return new FaultError({ kind: 'rejected', sent: 'no', cause });
}

/** A failure inside a successful result. */
export interface PartialFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** Describes an error to the caller; undefined for an unexpected one. */
export function describeFailure(thrown: unknown): PartialFailure | undefined {
  const error = toolErrorOf(thrown);
  if (!error) return undefined;
  const { code, message } = error.input;
  return { code, message, retryable: isRetryable(code) };
}

export function toolErrorOf(thrown: unknown): ToolError | undefined {
  const cause = asFault(thrown);
  if (cause instanceof FaultError) {
    return faultToError(cause.fault) ?? defaultFaultToError(cause.fault);
  }
  const raised = memberOf(cause, 'toolError');
  return isToolError(raised) ? raised : undefined;
}

export function conformanceWarning({ conformanceFault }: LandingPage): readonly string[] {
  if (!conformanceFault) return [];
  const code = describeFailure(conformanceFault)?.code ?? 'internal_error';
  return [
    `The catalogue's conformance page could not be read (${code}): capabilities are unknown.`,
  ];
}
