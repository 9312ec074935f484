import {
  toolError,
  type AcceptedCall,
  type DelegatingCall,
  type Settled,
  type SettledFailure,
} from '@toolkeel/contract';
import { deadlineExceeded } from '../answer/answer.js';
import { journalFailed, journalTimeout } from '../answer/errors.js';
import type { JournalContext } from '../context.js';
import { TOO_LATE, withDeadline } from '../deadline.js';
import type { CallDedupKey } from '../dedup-key/dedup-key.js';
import { keyGivenTo, type Operation } from '../operation.js';
import type { Decision } from '../options.js';
import type { CallContext, CallRequest } from './call.js';

/**
 * Resolves the upstream's own id of the account, so that two names of one user are one account. Without
 * it repeats could not be recognised, so a failure refuses the call.
 */
export async function resolveAccount(
  context: JournalContext,
  call: AcceptedCall,
  answerBy: number,
): Promise<string | Settled> {
  const { clock } = context;
  const resolved = call.tool.accountId
    ? await withDeadline(clock, answerBy, call.accountId())
    : { id: call.account };
  if (resolved === TOO_LATE) return deadlineExceeded(call.tool, 'no');
  if ('ok' in resolved) {
    // The tool's check needs no account, and its answer is more specific than the failed resolution.
    const checked = await runCheck(context, call, answerBy);
    if (checked?.ok) return (await isDenied(context, call)) ? resolved : checked;
    return checked ?? resolved;
  }
  try {
    const upgrading = context.upgradeAccount(resolved);
    const isLate = upgrading && (await withDeadline(clock, answerBy, upgrading)) === TOO_LATE;
    return isLate ? journalTimeout() : resolved.id;
  } catch (cause) {
    context.report(cause, call.correlationId);
    return journalFailed();
  }
}

/** A tool whose `normalize` throws is not run: its repeats could not be recognised. */
export function dedupKeyOf(
  { dedupKeys, report }: JournalContext,
  call: AcceptedCall,
  account: string,
  meta: Readonly<Record<string, unknown>>,
): CallDedupKey | SettledFailure {
  try {
    return dedupKeys.ofCall(call, account, meta);
  } catch (cause) {
    report(cause, call.correlationId);
    const text = 'Internal error; see the server log for this correlation id. Nothing was sent.';
    const { input } = toolError('internal_error', text, { outcome: 'not_executed' });
    return { ok: false, error: input };
  }
}

/** Runs the tool's check. Undefined: the call may proceed. */
export async function runCheck(
  { clock }: JournalContext,
  call: AcceptedCall,
  answerBy: number,
): Promise<Settled | undefined> {
  // Most tools have no check, and need no timer.
  if (!call.tool.check) return undefined;
  const checked = await withDeadline(clock, answerBy, call.check());
  return checked === TOO_LATE ? deadlineExceeded(call.tool, 'no') : checked;
}

/**
 * Answers a call whose check fails, or answers it without sending, before anything is stored or an
 * operator is asked. An operation that holds the dedup key takes precedence: it is replayed or reported.
 * Undefined: the call proceeds.
 */
export async function answerFromCheck(
  context: JournalContext,
  request: CallRequest,
  hasLeader: () => boolean,
): Promise<Settled | undefined> {
  const { call, answerBy } = request;
  const checked = await runCheck(context, call, answerBy);
  if (!checked || hasLeader()) return undefined;
  if (checked.ok) return (await isDenied(context, call)) ? undefined : checked;
  try {
    const held = await withDeadline(context.clock, answerBy, isHeld(context, request));
    if (held === TOO_LATE) return journalTimeout();
    return held ? undefined : checked;
  } catch (cause) {
    context.report(cause, call.correlationId);
    return journalFailed();
  }
}

/** A rule that denies a tool denies its check's answers too; the refusal takes the ordinary path. */
async function isDenied(context: JournalContext, call: AcceptedCall): Promise<boolean> {
  const decision = await evaluatePolicy(context, call, false);
  return decision === undefined || decision.kind === 'deny';
}

/**
 * The former name of the account under which an operation answers this call, with the keys of the call
 * there: a new name must not make a second act of it.
 */
export async function formerlyHeld(
  context: JournalContext,
  call: AcceptedCall,
  account: string,
  { meta }: Pick<CallContext, 'meta'>,
  answerBy: number,
): Promise<(CallDedupKey & { readonly account: string }) | Settled | undefined> {
  const find = async () => {
    for (const former of context.formerAccounts(account)) {
      const keys = dedupKeyOf(context, call, former, meta);
      if ('ok' in keys) return keys;
      await context.upgradeAccount({ id: former });
      if (await isHeld(context, { ...keys, call, account: former })) {
        return { ...keys, account: former };
      }
    }
    return undefined;
  };
  if (context.formerAccounts(account).length === 0) return undefined;
  try {
    const found = await withDeadline(context.clock, answerBy, find());
    return found === TOO_LATE ? journalTimeout() : found;
  } catch (cause) {
    context.report(cause, call.correlationId);
    return journalFailed();
  }
}

function isHeld(
  { store }: JournalContext,
  request: CallDedupKey & Pick<CallRequest, 'call' | 'account'>,
): Promise<boolean> {
  const { call, account, dedupKey, key, argsHash } = request;
  const { tool, controls } = call;
  return store.isHeld({
    tool: tool.name,
    account,
    dedupKey,
    effect: tool.effect === 'once' ? 'once' : 'idempotent',
    content: argsHash,
    ...(key !== undefined && { key }),
    allowDuplicate: controls.allowDuplicate,
  });
}

/** Evaluates the policy. Undefined: it failed. */
export async function evaluatePolicy(
  { decide, clock, report }: JournalContext,
  call: AcceptedCall,
  approved: boolean,
  onBehalfOf?: readonly DelegatingCall[],
): Promise<Decision | undefined> {
  if (!decide) return { kind: 'allow', limits: [] };
  try {
    const decision = await decide(call, { approved, now: clock.wallNow(), onBehalfOf });
    if (!approved || decision.kind !== 'approve') return decision;
    throw new TypeError(`rule ${decision.rule} requires approval of an approved operation`);
  } catch (cause) {
    report(cause, call.correlationId);
    return undefined;
  }
}

type RequestedControls = Pick<Operation, 'dedupKey' | 'key'> & Partial<Pick<Operation, 'approval'>>;

/**
 * The call with the idempotency key and `allow_duplicate` of the original request, for rules that use
 * them: the key may come from `_meta`, and a stored operation has neither among its arguments.
 */
export function withRequestedControls(
  call: AcceptedCall,
  requested: RequestedControls,
): AcceptedCall {
  const { controls } = call;
  const key = keyGivenTo(requested) ?? controls.idempotencyKey;
  const allowDuplicate = controls.allowDuplicate || requested.approval?.duplicate === true;
  if (key === controls.idempotencyKey && allowDuplicate === controls.allowDuplicate) return call;
  const idempotency = key === undefined ? {} : { idempotencyKey: key };
  return { ...call, controls: { ...idempotency, allowDuplicate } };
}
