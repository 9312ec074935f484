import { createErrorBody } from '../envelope/error.js';
import { errorEnvelope, successEnvelope, type Envelope } from '../envelope/envelope.js';
import type { MetaInput, PaginationInfo } from '../envelope/meta.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { asDeclared, unforeseen } from './failure.js';
import type { Settled, SettledFailure, SettledSuccess, ToolRun } from './options.js';

const DEFAULT_BUDGET = 48 * 1024;

export function byteBudgetOf(call: Call): number {
  return call.options.byteBudget ?? DEFAULT_BUDGET;
}

/** The envelope and its text, made in one go. */
export function seal(envelope: Envelope): ToolRun {
  const text = JSON.stringify(envelope);
  return { envelope, text, bytes: Buffer.byteLength(text) };
}

export function sealSuccess(
  tool: Tool,
  call: Call,
  settled: SettledSuccess,
  pagination?: PaginationInfo,
): ToolRun {
  return seal(successEnvelope(settled.data, metaInput(tool, call, settled, pagination)));
}

/** A failure always fits: what is optional goes first. */
export function sealFailure(tool: Tool, call: Call, settled: SettledFailure): ToolRun {
  const failure = consistent(tool, call, settled);
  const meta = metaInput(tool, call, failure);
  const whole = seal(errorEnvelope(failure.error, meta, failure.data ?? null));
  if (whole.bytes <= byteBudgetOf(call)) return whole;
  const withoutData = seal(errorEnvelope(failure.error, meta));
  if (withoutData.bytes <= byteBudgetOf(call)) return withoutData;
  return seal(errorEnvelope({ ...failure.error, details: undefined }, meta));
}

/** Whoever stood around the handler may have put together an error that its code does not allow. */
function consistent(tool: Tool, call: Call, settled: SettledFailure): SettledFailure {
  const declared = asDeclared(tool, settled, call.report);
  try {
    createErrorBody(declared.error);
    return declared;
  } catch (cause) {
    call.report(cause);
    return unforeseen(tool);
  }
}

function metaInput(
  tool: Pick<Tool, 'version'>,
  call: Call,
  settled: Settled,
  pagination?: PaginationInfo,
): MetaInput {
  return {
    toolVersion: tool.version,
    elapsedMs: call.elapsedMs(),
    retryCount: call.retryCount(),
    correlationId: call.correlationId,
    profile: call.options.profile ?? { name: 'readonly' },
    pagination,
    rateLimit: settled.rateLimit,
    idempotency: settled.idempotency,
  };
}
