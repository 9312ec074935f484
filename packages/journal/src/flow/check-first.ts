import type { AcceptedCall, Settled } from '@toolkeel/contract';
import { outOfTime } from '../answer/known.js';
import { journalFailed, journalSilent } from '../answer/refusals.js';
import { TOO_LATE, within } from './bounded.js';
import { decide } from './decide.js';
import type { FlowParts } from './parts.js';
import type { Request } from './request.js';

/** What the tool's own check says of a call; undefined: it may go on. */
export async function checkedBy(
  { kit }: Pick<FlowParts, 'kit'>,
  call: AcceptedCall,
  answerBy: number,
): Promise<Settled | undefined> {
  // Most tools have none, and should not pay for a timer.
  if (!call.tool.check) return undefined;
  const said = await within(kit.clock, answerBy, call.check());
  return said === TOO_LATE ? outOfTime(call.tool, 'no') : said;
}

/**
 * The answer of a call that could never be sent, or that would send nothing: given before anything of
 * it is stored, and before anybody is asked. Where the same act was begun earlier, what became of it is
 * the answer: a replay sends nothing, and an open end has to be told. Undefined: the call goes on.
 */
export async function checkFirst(
  parts: FlowParts,
  request: Request,
  isUnderWay: () => boolean,
): Promise<Settled | undefined> {
  const { call, answerBy } = request;
  const said = await checkedBy(parts, call, answerBy);
  if (!said || isUnderWay()) return undefined;
  if (said.ok) return (await isForbidden(parts, call)) ? undefined : said;
  const { kit } = parts;
  try {
    const held = await within(kit.clock, answerBy, isHeld(parts, request));
    if (held === TOO_LATE) return journalSilent();
    return held ? undefined : said;
  } catch (cause) {
    kit.report(cause, call.correlationId);
    return journalFailed();
  }
}

/** A rule that forbids a tool forbids to look through it as well. The refusal goes its usual way. */
export async function isForbidden({ kit }: FlowParts, call: AcceptedCall): Promise<boolean> {
  const decision = await decide(kit, call, false);
  return decision === undefined || decision.kind === 'deny';
}

function isHeld({ kit }: FlowParts, request: Request): Promise<boolean> {
  const { call, account, dedupKey, key, argsHash } = request;
  const { tool, controls } = call;
  return kit.store.isHeld({
    tool: tool.name,
    account,
    dedupKey,
    effect: tool.effect === 'once' ? 'once' : 'idempotent',
    content: argsHash,
    ...(key !== undefined && { key }),
    allowDuplicate: controls.allowDuplicate,
  });
}
