import {
  ProtocolError,
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Callable } from '../call/callable.js';
import type { Deliveries } from '../call/deliveries.js';
import { OK, type AnsweredRun, type CallEngine } from '../call/engine.js';
import { callToolResult } from '../call/result.js';
import type { ToolTable } from '../catalog/tools.js';
import type { Scrub } from '../secret/scrub.js';
import type { RawTool } from './raw.js';
import { unknownTool } from './unknown-tool.js';

/** Where the open proposal SEP-3182 puts a key: beside the arguments. The journal looks in `_meta`. */
const PROPOSED_KEY = 'idempotencyKey';

function withProposedKey(params: CallToolRequest['params'], context: ServerContext): ServerContext {
  if (!Object.hasOwn(params, PROPOSED_KEY)) return context;
  const { [PROPOSED_KEY]: key } = params as Readonly<Record<string, unknown>>;
  const { mcpReq } = context;
  return { ...context, mcpReq: { ...mcpReq, _meta: { ...mcpReq._meta, [PROPOSED_KEY]: key } } };
}

/** Answers `tools/call`. */
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
    params: CallToolRequest['params'],
    context: ServerContext,
  ): CallToolResult | Promise<CallToolResult | InputRequiredResult> {
    const entry = this.#table.entry(params.name);
    if (entry) return this.#run(entry, params, context);
    const raw = this.#table.raw(params.name);
    if (raw) return this.#runRaw(raw, params, context);
    throw this.#scrub.error(unknownTool(params.name, this.#table.names));
  }

  #run(
    entry: Callable,
    params: CallToolRequest['params'],
    context: ServerContext,
  ): CallToolResult | Promise<CallToolResult> {
    const run = this.#engine.run(entry, params.arguments, withProposedKey(params, context));
    return run instanceof Promise
      ? run.then((ended) => this.#answer(ended, context))
      : this.#answer(run, context);
  }

  #answer(run: AnsweredRun, { http }: ServerContext): CallToolResult {
    const clean = this.#scrub.run(run);
    if (run.delivered) this.#deliveries.expect(clean.envelope, run.delivered, http?.req);
    return callToolResult(clean);
  }

  async #runRaw(
    raw: RawTool,
    params: CallToolRequest['params'],
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { definition, timeoutMs = Infinity } = raw;
    const call = this.#engine.begin(definition.name, timeoutMs, context);
    const inside = { ...context, mcpReq: { ...context.mcpReq, signal: call.signal } };
    let code = 'error';
    try {
      const result = await raw.call(params, inside);
      code = 'isError' in result && result.isError === true ? code : OK;
      return this.#scrub.value(result);
    } catch (cause) {
      if (cause instanceof ProtocolError) throw this.#scrub.error(cause);
      this.#engine.noteUnexpected(call, cause);
      const text = `The tool failed in a way that nobody foresaw. The operator finds the cause under ${call.correlationId}.`;
      return { content: [{ type: 'text', text }], isError: true };
    } finally {
      this.#engine.finish(call, code);
    }
  }
}
