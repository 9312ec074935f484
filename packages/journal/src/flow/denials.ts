import { policyDenialCodes, type Settled } from '@toolkeel/contract';
import { every, type Background } from '../background/every.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';

/** A call that the policy refused. */
interface Denied {
  readonly tool: string;
  readonly account: string;
  readonly code: string;
  readonly rule: string;
}

/**
 * Keeps refusals from growing the journal without bound: of one kind (tool, account, rule and code) the
 * first is recorded, and repeats are counted into one audit row for each window.
 */
export interface Denials {
  /** False: a repeat, which is counted and leaves nothing else. */
  readonly isFirst: (denied: Denied) => boolean;
  /** Writes what has been counted. */
  readonly close: () => Promise<void>;
}

interface Counted {
  readonly denied: Partial<Denied>;
  repeats: number;
  firstAt: number;
  lastAt: number;
}

const WINDOW_MS = 3_600_000;
/** An account may come from an argument, so there is no end of kinds: the rest are counted together. */
const MOST_KINDS = 100;
const OTHERS = 'others';

export function denials({
  store,
  clock,
  report,
}: Pick<Kit, 'store' | 'clock' | 'report'>): Denials {
  const open = new Map<string, Counted>();
  let background: Background | undefined;

  const write = async ({ denied, repeats, firstAt, lastAt }: Counted): Promise<void> => {
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
    for (const [key, counted] of open) {
      const written = { ...counted };
      // Where it went on it is still the same; else the next one is a first one again.
      if (written.repeats === 0) open.delete(key);
      else {
        counted.repeats = 0;
        await write(written).catch((cause: unknown) => {
          counted.repeats += written.repeats;
          counted.firstAt = written.firstAt;
          report(cause);
        });
      }
    }
  };

  return {
    isFirst: (denied) => {
      background ??= every({ clock, report, ms: WINDOW_MS, work: flush });
      const now = clock.wallNow();
      const own = JSON.stringify([denied.tool, denied.account, denied.code, denied.rule]);
      const key = open.has(own) || open.size < MOST_KINDS ? own : OTHERS;
      const counted = open.get(key);
      if (!counted) {
        const isOther = key === OTHERS;
        const fresh = { repeats: isOther ? 1 : 0, firstAt: now, lastAt: now };
        open.set(key, { denied: isOther ? {} : denied, ...fresh });
        return !isOther;
      }
      if (counted.repeats === 0) counted.firstAt = now;
      counted.repeats += 1;
      counted.lastAt = now;
      return false;
    },
    close: async () => {
      await background?.stop();
      await flush();
    },
  };
}

const REFUSALS: ReadonlySet<string> = new Set([
  ...policyDenialCodes,
  'policy_denied_rate_limited',
  'policy_error',
  'dry_run',
]);

/** Whether the policy refused an operation of which nothing was sent, approved or done, once more. */
export function isRepeatedRefusal(
  { denials: counting }: Pick<Kit, 'denials'>,
  { tool, account, steps, approval }: Operation,
  answer: Settled,
): boolean {
  if (answer.ok || steps.length > 0 || approval || !REFUSALS.has(answer.error.code)) return false;
  const { code, details } = answer.error;
  const rule = details && 'rule' in details ? details.rule : '';
  return !counting.isFirst({ tool, account, code, rule });
}
