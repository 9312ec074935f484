import type { AcceptedCall, Next } from '@toolkeel/contract';
import type { CallDedupKey } from '../identity/identity.js';
import { JournalError } from '../error.js';
import type { Kit } from '../kit.js';
import type { ClaimResult } from '../store/store.js';
import type { Moment } from './deliveries.js';
import type { JournalScope } from './scope.js';

/** A call on its way to an operation. */
export interface Request extends CallDedupKey {
  readonly call: AcceptedCall;
  readonly next: Next;
  readonly scope: JournalScope;
  /** Whom it acts for, as the upstream knows it. */
  readonly account: string;
  readonly began: Moment;
  /** When the caller must have its answer, on the journal's clock. */
  readonly answerBy: number;
}

/** Takes the slot of a call, or learns who has it. */
export async function claimFor(kit: Kit, request: Request): Promise<ClaimResult> {
  const { call, account, dedupKey, argsHash, key } = request;
  const { tool, args, controls, correlationId } = call;
  const id = kit.newId();
  const json = JSON.stringify(args);
  // What a person is asked about must never have stood in a file in clear, and the policy is asked later.
  const mayWait = kit.decide !== undefined && kit.store.kind !== 'memory';
  const isClear = tool.sensitive.length === 0 && !mayWait;
  const claim = (owner: string) =>
    kit.store.claim({
      id,
      owner,
      account,
      tool: tool.name,
      effect: tool.effect === 'once' ? 'once' : 'idempotent',
      dedupKey,
      ...(key !== undefined && { key }),
      argsHash,
      content: argsHash,
      keyHoldMs: kit.times.retentionMs,
      args: isClear ? json : kit.encryption.encrypt(json, id),
      correlationId,
      allowDuplicate: controls.allowDuplicate,
    });
  const owner = await kit.tenure.current();
  try {
    return await claim(owner);
  } catch (cause) {
    // We were silent for too long. That is no reason to refuse a new call.
    if (!(cause instanceof JournalError && cause.reason === 'lapsed')) throw cause;
    kit.tenure.lapsed(owner);
    return claim(await kit.tenure.current());
  }
}
