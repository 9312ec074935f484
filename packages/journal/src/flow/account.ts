import {
  accountOf,
  toolError,
  type AcceptedCall,
  type Arguments,
  type Settled,
  type SettledFailure,
  type Tool,
} from '@toolkeel/contract';
import { outOfTime } from '../answer/known.js';
import { journalFailed, journalSilent } from '../answer/refusals.js';
import type { CallDedupKey } from '../identity/identity.js';
import type { Kit } from '../kit.js';
import { TOO_LATE, within } from './bounded.js';
import { checkedBy, isForbidden } from './check-first.js';
import type { FlowParts } from './parts.js';

/**
 * Whom a call acts for, as the upstream knows it: two names for one user are one account. A call whose
 * account cannot be resolved is refused, because nothing would tell what was done for it already; one
 * that sends nothing is answered all the same.
 */
export async function accountFor(
  parts: FlowParts,
  call: AcceptedCall,
  answerBy: number,
): Promise<string | Settled> {
  const { kit } = parts;
  const resolved = call.tool.accountId
    ? await within(kit.clock, answerBy, call.accountId())
    : { id: call.account };
  if (resolved === TOO_LATE) return outOfTime(call.tool, 'no');
  if ('ok' in resolved) {
    // What is wrong with the call itself says more than that its account is not known.
    const said = await checkedBy(parts, call, answerBy);
    if (said?.ok) return (await isForbidden(parts, call)) ? resolved : said;
    return said ?? resolved;
  }
  try {
    const upgrading = kit.upgrade(resolved);
    const isLate = upgrading && (await within(kit.clock, answerBy, upgrading)) === TOO_LATE;
    return isLate ? journalSilent() : resolved.id;
  } catch (cause) {
    kit.report(cause, call.correlationId);
    return journalFailed();
  }
}

/** The same for an operation that is looked for, without a call; undefined where it cannot be resolved. */
export async function currentAccount(
  kit: Pick<Kit, 'upgrade'>,
  tool: Tool,
  args: Arguments,
  context: {
    readonly signal: AbortSignal;
    readonly deadline: number;
    readonly correlationId: string;
  },
): Promise<string | undefined> {
  const account = accountOf(tool, args);
  if (!tool.accountId) return account;
  try {
    const resolved = await tool.accountId(args, { ...context, account });
    await kit.upgrade(resolved);
    return resolved.id;
  } catch {
    return undefined;
  }
}

/** A tool whose `normalize` throws could not tell a repeat from a new act, so it is not run. */
export function identify(
  kit: Pick<Kit, 'identities' | 'report'>,
  call: AcceptedCall,
  account: string,
  meta: Readonly<Record<string, unknown>>,
): CallDedupKey | SettledFailure {
  try {
    return kit.identities.of(call, account, meta);
  } catch (cause) {
    kit.report(cause, call.correlationId);
    const text = 'Internal error; see the server log for this correlation id. Nothing was sent.';
    const { input } = toolError('internal_error', text, { outcome: 'not_executed' });
    return { ok: false, error: input };
  }
}
