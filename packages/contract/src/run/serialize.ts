import { createErrorBody } from '../envelope/error.js';
import { uncheckedError, uncheckedSuccess, type Envelope } from '../envelope/envelope.js';
import { type MetaInput, type PaginationInfo, paginationInfo } from '../envelope/meta.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { enforceDeclaredCode, outcomeOfLostResult, unexpectedFailure } from './failure.js';
import type { Settled, SettledFailure, SettledSuccess, ToolRun } from './options.js';
import { ownMember } from '../json.js';
import { toolError } from '../tool/result.js';
import type { Pager } from './pager.js';

const DEFAULT_BYTE_BUDGET = 48 * 1024;

function byteBudgetOf({ options }: Call): number {
  const { byteBudget = DEFAULT_BYTE_BUDGET } = options;
  return byteBudget >= 0 ? Math.floor(byteBudget) : DEFAULT_BYTE_BUDGET;
}

/** Serializes an envelope. */
export function serializeEnvelope(envelope: Envelope): ToolRun {
  const text = JSON.stringify(envelope);
  return { envelope, text, bytes: Buffer.byteLength(text) };
}

function serializeSuccess(
  tool: Tool,
  call: Call,
  settled: SettledSuccess,
  pagination?: PaginationInfo,
): ToolRun {
  return serializeEnvelope(
    uncheckedSuccess(settled.data, metaInput(tool, call, settled, pagination)),
  );
}

/** Serializes a failure; drops partial data, then details, if it exceeds the byte budget. */
export function serializeFailure(tool: Tool, call: Call, settled: SettledFailure): ToolRun {
  const failure = ensureConsistent(tool, call, settled);
  const meta = metaInput(tool, call, failure);
  const whole = serializeEnvelope(uncheckedError(failure.error, meta, failure.data ?? null));
  if (whole.bytes <= byteBudgetOf(call)) return whole;
  const withoutData = serializeEnvelope(uncheckedError(failure.error, meta));
  if (withoutData.bytes <= byteBudgetOf(call)) return withoutData;
  return serializeEnvelope(uncheckedError({ ...failure.error, details: undefined }, meta));
}

/**
 * Codes of the journal that are safe to retry with an unknown outcome, because the journal does not
 * send an operation twice. The same codes from a handler have become `outcome_unknown` before.
 */
const SAFE_TO_REPEAT: ReadonlySet<string> = new Set(['db_error']);

/** Replaces an error of the middleware that its code does not allow; keeps the valid meta fields. */
function ensureConsistent(tool: Tool, call: Call, settled: SettledFailure): SettledFailure {
  try {
    const declared = enforceDeclaredCode(tool, settled, call.report, SAFE_TO_REPEAT);
    createErrorBody(declared.error);
    return declared;
  } catch (cause) {
    call.report(cause);
    const { rateLimit, idempotency } = settled;
    return { ...unexpectedFailure(tool), rateLimit, idempotency };
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

/** Serializes a success within the byte budget: whole, cut at an item, or rejected as too large. */
export function serializeWithinBudget(
  tool: Tool,
  call: Call,
  settled: SettledSuccess,
  pager?: Pager,
): ToolRun {
  const items = pager && itemsOf(tool, settled.data);
  const next = settled.paging?.next;
  const pagination =
    items && paginationInfo(items.length, next === undefined ? undefined : pager.encode(next));
  const whole = serializeSuccess(tool, call, settled, pagination);
  if (whole.bytes <= byteBudgetOf(call)) return whole;
  const cut = (warn: boolean) => items && cutList(tool, call, settled, pager, items, warn);
  // Drops the warning if no item fits with it.
  return (
    cut(true) ??
    cut(false) ??
    serializeFailure(tool, call, tooLarge(tool, call, settled, whole.bytes, pager))
  );
}

/** The longest prefix of the list that fits, with a token that continues after it. */
function cutList(
  tool: Tool,
  call: Call,
  settled: SettledSuccess,
  pager: Pager,
  items: readonly unknown[],
  warn: boolean,
): ToolRun | undefined {
  const after = settled.paging?.after;
  if (!after) return undefined;
  const budget = byteBudgetOf(call);
  const empty = serializeSuccess(tool, call, withItems(tool, settled, []), paginationInfo(0));
  const sizes = sizesThatFit(items, budget - empty.bytes);
  let kept = sizes.length;
  while (kept > 0) {
    const warning = warn ? cutWarning(tool, kept, items.length, budget) : undefined;
    const pagination = paginationInfo(kept, pager.encode(after(kept)), warning);
    const cut = serializeSuccess(
      tool,
      call,
      withItems(tool, settled, items.slice(0, kept)),
      pagination,
    );
    if (cut.bytes <= budget) return cut;
    // The token and the warning need space too: drop as many items as they take.
    kept = dropBytes(sizes, kept, cut.bytes - budget);
  }
  return undefined;
}

function cutWarning(tool: Tool, kept: number, total: number, budget: number): string {
  const token = tool.paging?.token ?? 'next_token';
  const hint = 'fields' in tool.input.shape ? ' Use `fields` to get less of each item.' : '';
  return `Cut after ${kept} of ${total} items: a result has at most ${budget} bytes. Pass next_token as \`${token}\` to continue.${hint}`;
}

/** The sizes of the first items that fit; never of all, because the whole list did not fit. */
function sizesThatFit(items: readonly unknown[], room: number): readonly number[] {
  const sizes: number[] = [];
  let left = room;
  for (const item of items.slice(0, -1)) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    left -= size;
    if (left < 0) break;
    sizes.push(size);
  }
  return sizes;
}

function dropBytes(sizes: readonly number[], kept: number, bytes: number): number {
  let dropped = 0;
  let count = kept;
  while (count > 0 && dropped < bytes) dropped += sizes[(count -= 1)] ?? 0;
  return count;
}

function tooLarge(
  tool: Tool,
  call: Call,
  settled: SettledSuccess,
  bytes: number,
  pager?: Pager,
): SettledFailure {
  const budget = byteBudgetOf(call);
  const hint =
    'fields' in tool.input.shape ? 'Use `fields` to ask for less of it.' : 'Ask for less.';
  const skip = cursorAfterFirst(tool, settled);
  const { input } = toolError(
    'response_too_large',
    `The result has ${bytes} bytes; the limit is ${budget}. ${hint}`,
    {
      outcome: outcomeOfLostResult(tool),
      details: {
        bytes,
        budget,
        ...(pager && skip !== undefined && { next_token: pager.encode(skip) }),
      },
    },
  );
  return { ok: false, error: input, rateLimit: settled.rateLimit };
}

/** The cursor after the first item, which is too large, if more items follow. */
function cursorAfterFirst(tool: Tool, { data, paging }: SettledSuccess): unknown {
  if (!paging?.after) return undefined;
  return itemsOf(tool, data).length > 1 ? paging.after(1) : paging.next;
}

function itemsOf({ paging }: Tool, data: unknown): readonly unknown[] {
  const name = paging?.items;
  const list = name === undefined ? data : ownMember(data, name);
  return Array.isArray(list) ? list : [];
}

function withItems(tool: Tool, settled: SettledSuccess, items: readonly unknown[]): SettledSuccess {
  const name = tool.paging?.items;
  const data = name === undefined ? items : { ...(settled.data as object), [name]: items };
  return { ...settled, data };
}
