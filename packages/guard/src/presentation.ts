import type { CompletedRun } from '@toolkeel/host/parts';
import type { UpstreamConfig } from './config.js';
import { cutsResults, resultBudget } from './diet.js';
import { errorResult, toolEnvelopes, type ToolEnvelopes } from './envelope.js';
import type { ListedTool } from './effects.js';
import type { ErrorReader } from './faults.js';
import {
  frameOf,
  objectIn,
  writerOf,
  type Frame,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import type { ResultKeeper } from './kept-results.js';
import { cutResult } from './result-budget.js';

interface PresentedCall {
  readonly request: RequestFrame;
  readonly run: CompletedRun;
  /** Undefined: the guard answered itself. */
  readonly reply: ResponseFrame | undefined;
  readonly listed: ListedTool;
  readonly isMutation: boolean;
  readonly keeper: ResultKeeper | undefined;
}

/** Turns the response of a call into the one that the client gets. */
export type Present = (frame: Frame, call: PresentedCall) => Frame;

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Cuts and wraps results as configured. Undefined: they are passed on as they are. */
export function presentation(config: UpstreamConfig, errors: ErrorReader): Present | undefined {
  if (!config.envelope && !cutsResults(config)) return undefined;
  const known = new WeakMap<ListedTool, ToolEnvelopes>();
  const envelopesOf = (listed: ListedTool): ToolEnvelopes => {
    const isTyped = resultBudget(listed.name, config) === undefined;
    const found = known.get(listed) ?? toolEnvelopes(listed, isTyped);
    known.set(listed, found);
    return found;
  };
  return (frame, call) => {
    const { request, run, reply, listed, isMutation, keeper } = call;
    const { message } = frame;
    // The guard's own failures are envelopes already, and a question to the client is no result.
    if (!run.envelope.success && !reply) return frame;
    if (message.result?.['resultType'] === 'input_required') return frame;
    const isModern = objectIn(request.message.params, '_meta')[VERSION_KEY] !== undefined;
    const isListed = listed.inputSchema !== undefined;
    const converted = config.envelope && isListed ? errorResult(message) : undefined;
    const given = message.result ?? converted;
    if (!given) return frame;
    const write = writerOf(frame);
    const budget = resultBudget(listed.name, config);
    const cut =
      budget === undefined || !keeper || frame.line.length <= budget
        ? undefined
        : cutResult(given, budget, { tool: listed.name, keeper, write });
    if (!config.envelope) return cut ? withResult(frame, cut) : frame;
    const fault = errors.fault(frame as ResponseFrame, listed.name);
    const { meta } = run.envelope;
    const wrapped = envelopesOf(listed).wrap(cut ?? given, { meta, isMutation, fault, write });
    const result = converted && isModern ? { ...wrapped, resultType: 'complete' } : wrapped;
    return withResult(frame, result);
  };
}

function withResult(frame: Frame, result: Readonly<Record<string, unknown>>): Frame {
  const { error: _error, ...rest } = frame.message;
  return frameOf({ ...rest, result }, frame);
}
