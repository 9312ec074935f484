import { runTool, toolError, type Arguments, type Settled, type Tool } from '@toolkeel/contract';
import { asAsked } from '../flow/as-asked.js';
import { checkedBy } from '../flow/check-first.js';
import { decide } from '../flow/decide.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';

const CHECK_MS = 10_000;
const NOT_RUN = toolError('internal_error', 'An edit is only checked.', {
  outcome: 'not_executed',
});

/**
 * Why edited arguments could not be executed, by the checks that a request passes: those of the tool
 * and the rules of the policy that hold for approved operations. Undefined: they could.
 */
export async function editRefusal(
  kit: Kit,
  tool: Tool,
  operation: Operation,
  args: Arguments,
): Promise<string | undefined> {
  const { clock, report } = kit;
  const { correlationId } = operation;
  const deadline = clock.now() + CHECK_MS;
  let reason: string | undefined = 'the checks of the tool did not end in time';
  await runTool(tool, args, {
    correlationId,
    clock,
    deadline,
    argumentsOnly: true,
    onUnexpected: (cause) => report(cause, correlationId),
    middleware: async (call): Promise<Settled> => {
      const checked = await checkedBy({ kit }, call, deadline);
      if (checked?.ok === false) reason = checked.error.message;
      else if (checked) reason = 'nothing would be sent';
      else reason = refusedBy(await decide(kit, asAsked(call, operation), true));
      return { ok: false, error: NOT_RUN.input };
    },
  });
  return reason;
}

function refusedBy(decision: Awaited<ReturnType<typeof decide>>): string | undefined {
  if (!decision) return 'the policy cannot be evaluated';
  return decision.kind === 'allow' ? undefined : decision.explanation;
}
