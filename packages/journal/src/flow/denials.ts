import { policyDenialCodes, type Settled } from '@toolkeel/contract';
import { every, type Background } from '../background/every.js';
import type { JournalContext } from '../context.js';
import type { Operation } from '../operation.js';

/** A call that the policy refused. */
interface DeniedCall {
  readonly tool: string;
  readonly account: string;
  readonly code: string;
  readonly rule: string;
}

/**
 * Bounds the growth of the journal by denials: the first of a kind (tool, account, rule, code) is
 * recorded, and its repeats are counted in one audit row per window.
 */
export interface Denials {
  /** False for a repeat, which is only counted. */
  readonly isFirst: (denied: DeniedCall) => boolean;
  /** Writes the pending counts. */
  readonly close: () => Promise<void>;
}

interface DenialCount {
  readonly denied: Partial<DeniedCall>;
  repeats: number;
  firstAt: number;
  lastAt: number;
}

const WINDOW_MS = 3_600_000;
/** An account may come from an argument, so kinds are unbounded: further ones are counted together. */
const MAX_KINDS = 100;
const OTHERS = 'others';

export function createDenials({
  store,
  clock,
  report,
}: Pick<JournalContext, 'store' | 'clock' | 'report'>): Denials {
  const counts = new Map<string, DenialCount>();
  let background: Background | undefined;

  const write = async ({ denied, repeats, firstAt, lastAt }: DenialCount): Promise<void> => {
    const { tool, account, ...kind } = denied;
    const [first_at, last_at] = [firstAt, lastAt].map((at) => new Date(at).toISOString());
    await store.audit({
      kind: 'denied',
      actor: 'policy',
      ...(tool !== undefined && { tool }),
      ...(account !== undefined && { account }),
      detail: { ...kind, repeats, first_at, last_at },
    });
  };
  const flush = async (): Promise<void> => {
    for (const [key, count] of counts) {
      const written = { ...count };
      // A kind without repeats in the window starts over: its next denial is a first one.
      if (written.repeats === 0) counts.delete(key);
      else {
        count.repeats = 0;
        await write(written).catch((cause: unknown) => {
          count.repeats += written.repeats;
          count.firstAt = written.firstAt;
          report(cause);
        });
      }
    }
  };

  return {
    isFirst: (denied) => {
      background ??= every({ clock, report, ms: WINDOW_MS, work: flush });
      const now = clock.wallNow();
      const kind = JSON.stringify([denied.tool, denied.account, denied.code, denied.rule]);
      const key = counts.has(kind) || counts.size < MAX_KINDS ? kind : OTHERS;
      const count = counts.get(key);
      if (!count) {
        const isOther = key === OTHERS;
        const fresh = { repeats: isOther ? 1 : 0, firstAt: now, lastAt: now };
        counts.set(key, { denied: isOther ? {} : denied, ...fresh });
        return !isOther;
      }
      if (count.repeats === 0) count.firstAt = now;
      count.repeats += 1;
      count.lastAt = now;
      return false;
    },
    close: async () => {
      await background?.stop();
      await flush();
    },
  };
}

const DENIAL_CODES: ReadonlySet<string> = new Set([
  ...policyDenialCodes,
  'policy_denied_rate_limited',
  'policy_error',
  'dry_run',
]);

/** Whether the policy refused an operation again of which nothing was sent, approved or completed. */
export function isRepeatedDenial(
  { denials }: JournalContext,
  { tool, account, steps, approval }: Operation,
  answer: Settled,
): boolean {
  if (answer.ok || steps.length > 0 || approval || !DENIAL_CODES.has(answer.error.code)) {
    return false;
  }
  const { code, details } = answer.error;
  const named = details && 'rule' in details ? details.rule : undefined;
  const rule = typeof named === 'string' ? named : '';
  return !denials.isFirst({ tool, account, code, rule });
}
