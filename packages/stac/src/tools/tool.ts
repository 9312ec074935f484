import { type ErrorCode, faultToError as defaultReading, type HandlerResult, implementTool, isRetryable, isToolError, type ObjectSchema, type OutputOf, raise, type Schema, type Tool, type ToolContext, toolError, type ToolError, type ToolSpec } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { faultToError } from '../faults.js';
import { TargetNotAllowed } from '../http/ssrf.js';
import { callContextOf, type CallContext } from '../call-context.js';
import type { Catalog } from '../api/catalogs.js';
import type { Landing } from '../api/landing.js';
import { memberOf } from '../json.js';
import { oneLine } from '../text.js';
import type { Settled } from './search-federated.js';

/** A call, as a tool's own code sees it. */
interface Run<Cursor = unknown> {
  readonly client: Client;
  readonly scope: CallContext;
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
    const scope = callContextOf(context, client.now(), client.capMs);
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
  if (!(cause instanceof TargetNotAllowed)) return cause;
  return new FaultError({ kind: 'rejected', sent: 'no', cause });
}

/** A failure inside an answer that is a success as a whole. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** What a thrown value says to the caller; undefined for what nobody foresaw. */
export function failureOf(thrown: unknown): Failure | undefined {
  const error = toolErrorOf(asFault(thrown));
  if (!error) return undefined;
  const { code, message } = error.input;
  return { code, message, retryable: isRetryable(code) };
}

export function conformanceWarning({ conformanceFault }: Landing): readonly string[] {
  if (!conformanceFault) return [];
  const code = failureOf(conformanceFault)?.code ?? 'internal_error';
  return [
    `The catalogue's conformance page could not be read (${code}): capabilities are unknown.`,
  ];
}

const MAX_REASON = 160;

/**
 * Ends a call of which every catalogue failed, naming each with its reason. The code is that of a failure
 * which may pass, if there is one.
 */
export function throwIfAllFailed(
  parts: readonly { readonly catalog: Catalog }[],
  settled: readonly Settled<unknown>[],
): void {
  const failed = settled.flatMap((one, index) =>
    one.ok === false ? [{ name: parts[index]!.catalog.name, cause: one.cause }] : [],
  );
  const [first] = failed;
  if (first === undefined || settled.some(({ ok }) => ok === true)) return;
  const errors = failed.map(({ cause }) => toolErrorOf(asFault(cause)));
  const unexpected = failed[errors.indexOf(undefined)];
  if (failed.length === 1 || unexpected) throw (unexpected ?? first).cause;
  const inputs = errors.flatMap((error) => error?.input ?? []);
  const reported = inputs.find(({ code }) => isRetryable(code)) ?? inputs[0]!;
  const reasons = inputs.map(
    ({ code, message }, index) =>
      `${failed[index]!.name}: ${code} (${oneLine(message, MAX_REASON)})`,
  );
  const message = `All ${failed.length} catalogues failed. ${reasons.join('; ')}`;
  raise(toolError(reported.code, message, reported));
}

function toolErrorOf(cause: unknown): ToolError | undefined {
  if (cause instanceof FaultError) return faultToError(cause.fault) ?? defaultReading(cause.fault);
  const raised = memberOf(cause, 'toolError');
  return isToolError(raised) ? raised : undefined;
}
