import { paginationInfo } from '../envelope/meta.js';
import { ownMember } from '../own-member.js';
import { toolError } from '../tool/result.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { outcomeOfLostAnswer } from './failure.js';
import type { SettledFailure, SettledSuccess, ToolRun } from './options.js';
import type { Pager } from './pager.js';
import { byteBudgetOf, sealFailure, sealSuccess } from './seal.js';

/** A success inside the byte budget: whole, cut at an item, or refused as too large. */
export function fitSuccess(
  tool: Tool,
  call: Call,
  settled: SettledSuccess,
  pager?: Pager,
): ToolRun {
  const items = pager && itemsOf(tool, settled.data);
  const next = settled.paging?.next;
  const pagination =
    items && paginationInfo(items.length, next === undefined ? undefined : pager.seal(next));
  const whole = sealSuccess(tool, call, settled, pagination);
  if (whole.bytes <= byteBudgetOf(call)) return whole;
  const cut = (warn: boolean) => items && cutList(tool, call, settled, pager, items, warn);
  // One item is worth more than the warning.
  return (
    cut(true) ??
    cut(false) ??
    sealFailure(tool, call, tooLarge(tool, call, settled, whole.bytes, pager))
  );
}

/** The longest beginning of the list that fits, with a token that goes on right after it. */
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
  const empty = sealSuccess(tool, call, withItems(tool, settled, []), paginationInfo(0));
  const sizes = sizesThatFit(items, budget - empty.bytes);
  let kept = sizes.length;
  while (kept > 0) {
    const warning = warn ? cutWarning(tool, kept, items.length, budget) : undefined;
    const pagination = paginationInfo(kept, pager.seal(after(kept)), warning);
    const cut = sealSuccess(tool, call, withItems(tool, settled, items.slice(0, kept)), pagination);
    if (cut.bytes <= budget) return cut;
    // The token and the warning take room too: give up as many items as they need.
    kept = dropBytes(sizes, kept, cut.bytes - budget);
  }
  return undefined;
}

function cutWarning(tool: Tool, kept: number, total: number, budget: number): string {
  const token = tool.paging?.token ?? 'next_token';
  const hint = 'fields' in tool.input.shape ? ' Use `fields` to get less of each item.' : '';
  return `Cut after ${kept} of ${total} items: an answer has at most ${budget} bytes. Pass next_token as \`${token}\` to continue.${hint}`;
}

/** The sizes of the first items, as many as there is room for; never all: they did not fit. */
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
    `The answer has ${bytes} bytes and ${budget} are allowed. ${hint}`,
    {
      outcome: outcomeOfLostAnswer(tool),
      details: {
        bytes,
        budget,
        ...(pager && skip !== undefined && { next_token: pager.seal(skip) }),
      },
    },
  );
  return { ok: false, error: input, rateLimit: settled.rateLimit };
}

/** Past the one item that is too big, if there is anything past it. */
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
