import type { AcceptedCall } from '@toolkeel/contract';
import type { Kit } from '../kit.js';
import type { Decision } from '../options.js';

/** What the policy says of a call; undefined when it cannot say. */
export async function decide(
  kit: Pick<Kit, 'decide' | 'clock' | 'report'>,
  call: AcceptedCall,
  approved: boolean,
): Promise<Decision | undefined> {
  if (!kit.decide) return { kind: 'allow', limits: [] };
  try {
    const decision = await kit.decide(call, { approved, now: kit.clock.wallNow() });
    if (!approved || decision.kind !== 'approve') return decision;
    throw new TypeError(`rule ${decision.rule} asks again for what a person has approved`);
  } catch (cause) {
    kit.report(cause, call.correlationId);
    return undefined;
  }
}
