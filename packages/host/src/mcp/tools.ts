import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { TOOL_FAILURE_KEY, toolFailure, type ToolRun } from '@toolkeel/contract';
import type { Callable } from '../call/callable.js';
import type { Deliveries } from '../call/deliveries.js';
import { OK, type CallEngine, type CompletedRun } from '../call/engine.js';
import type { CallRequest } from '../call/running-call.js';
import type { ToolTable } from '../catalog/tools.js';
import type { Scrub } from '../secret/secrets.js';
import { closestMatches, didYouMean } from '@toolkeel/pack-kit/base';
import type { RawTool } from './raw.js';

type Params = CallToolRequest['params'];

/** Handles `tools/call`. */
export class ToolCalls {
  readonly #table: ToolTable;
  readonly #engine: CallEngine;
  readonly #scrub: Scrub;
  readonly #deliveries: Deliveries;

  constructor(table: ToolTable, engine: CallEngine, scrub: Scrub, deliveries: Deliveries) {
    this.#table = table;
    this.#engine = engine;
    this.#scrub = scrub;
    this.#deliveries = deliveries;
  }

  call(
    params: Params,
    context: ServerContext,
  ): CallToolResult | Promise<CallToolResult | InputRequiredResult> {
    const entry = this.#table.entry(params.name);
    if (entry) return this.run(entry, params, context);
    const raw = this.#table.raw(params.name);
    if (raw) return this.#runRaw(raw, params, context);
    throw this.#scrub.error(unknownTool(params.name, this.#table.names));
  }

  /** Runs a tool that has an entry in the table. */
  run(
    entry: Callable,
    params: Params,
    context: CallRequest,
  ): CallToolResult | Promise<CallToolResult> {
    const run = this.#engine.run(entry, params.arguments, withProposedKey(params, context));
    return run instanceof Promise
      ? run.then((completed) => this.#resultOf(completed, context))
      : this.#resultOf(run, context);
  }

  #resultOf(run: CompletedRun, { http }: CallRequest): CallToolResult {
    const redacted = this.#scrub.run(run);
    const { deliveryCallbacks } = run;
    if (deliveryCallbacks) this.#deliveries.expect(redacted.envelope, deliveryCallbacks, http?.req);
    return callToolResult(redacted);
  }

  async #runRaw(
    raw: RawTool,
    params: Params,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { definition, timeoutMs = Infinity } = raw;
    const call = this.#engine.begin(definition.name, timeoutMs, context);
    const callContext = { ...context, mcpReq: { ...context.mcpReq, signal: call.signal } };
    let code = 'error';
    try {
      const result = await raw.call(params, callContext);
      code = 'isError' in result && result.isError === true ? code : OK;
      return this.#scrub.value(result);
    } catch (cause) {
      if (cause instanceof ProtocolError) throw this.#scrub.error(cause);
      this.#engine.logUnexpected(call, cause);
      const text = `Internal error; see the server log for correlation id ${call.correlationId}.`;
      return { content: [{ type: 'text', text }], isError: true };
    } finally {
      this.#engine.end(call, code);
    }
  }
}

/** Where the proposal SEP-3182 puts an idempotency key: beside the arguments. The journal reads `_meta`. */
const PROPOSED_KEY = 'idempotencyKey';

function withProposedKey(params: Params, context: CallRequest): CallRequest {
  if (!Object.hasOwn(params, PROPOSED_KEY)) return context;
  const { [PROPOSED_KEY]: key } = params as Readonly<Record<string, unknown>>;
  const { mcpReq } = context;
  return { ...context, mcpReq: { ...mcpReq, _meta: { ...mcpReq._meta, [PROPOSED_KEY]: key } } };
}

/**
 * The envelope as structured content and, as the same JSON, in the first text block: clients differ in
 * which of the two they show to the model.
 */
export function callToolResult({
  envelope,
  text,
}: Pick<ToolRun, 'envelope' | 'text'>): CallToolResult {
  const structuredContent = envelope as unknown as Record<string, unknown>;
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  if (envelope.success) return { content, structuredContent };
  const failure = { ...toolFailure(envelope, Date.now()) };
  return { content, structuredContent, isError: true, _meta: { [TOOL_FAILURE_KEY]: failure } };
}

function unknownTool(name: string, names: Iterable<string>): ProtocolError {
  const known = [...names];
  const message = `Unknown tool "${name.slice(0, 100)}".${didYouMean(name, known)}`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, {
    nearest: closestMatches(name, known),
  });
}
