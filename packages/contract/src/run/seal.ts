import { createErrorBody } from '../envelope/error.js';
import { uncheckedError, uncheckedSuccess, type Envelope } from '../envelope/envelope.js';
import type { MetaInput, PaginationInfo } from '../envelope/meta.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { asDeclared, unforeseen } from './failure.js';
import type { Settled, SettledFailure, SettledSuccess, ToolRun } from './options.js';

const DEFAULT_BUDGET = 48 * 1024;

export function byteBudgetOf({ options }: Call): number {
  const { byteBudget = DEFAULT_BUDGET } = options;
  return byteBudget >= 0 ? Math.floor(byteBudget) : DEFAULT_BUDGET;
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
  return seal(uncheckedSuccess(settled.data, metaInput(tool, call, settled, pagination)));
}

/** A failure always fits: what is optional goes first. */
export function sealFailure(tool: Tool, call: Call, settled: SettledFailure): ToolRun {
  const failure = consistent(tool, call, settled);
  const meta = metaInput(tool, call, failure);
  const whole = seal(uncheckedError(failure.error, meta, failure.data ?? null));
  if (whole.bytes <= byteBudgetOf(call)) return whole;
  const withoutData = seal(uncheckedError(failure.error, meta));
  if (withoutData.bytes <= byteBudgetOf(call)) return withoutData;
  return seal(uncheckedError({ ...failure.error, details: undefined }, meta));
}

/**
 * What a handler said of it has become `outcome_unknown` by now. Where the journal says it, the operation
 * may have been executed, and calling again is safe: the journal does not send it twice.
 */
const REPEATABLE: ReadonlySet<string> = new Set(['db_error']);

/**
 * Whoever stood around the handler may have put together an error that its code does not allow. What
 * is known of the operation and of the limits is true all the same.
 */
function consistent(tool: Tool, call: Call, settled: SettledFailure): SettledFailure {
  try {
    const declared = asDeclared(tool, settled, call.report, REPEATABLE);
    createErrorBody(declared.error);
    return declared;
  } catch (cause) {
    call.report(cause);
    const { rateLimit, idempotency } = settled;
    return { ...unforeseen(tool), rateLimit, idempotency };
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
