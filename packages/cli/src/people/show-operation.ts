import type { OperationView } from '@toolkeel/journal';
import { facts, pretty } from './print.js';

/** All that a person should know of one operation before deciding anything about it. */
export function operationText(operation: OperationView): string {
  const { approval, answer, steps } = operation;
  return facts([
    ['operation', operation.id],
    ['tool', operation.tool],
    ['account', operation.account],
    ['state', operation.state],
    ['outcome', operation.outcome],
    ['code', operation.code],
    ['key', operation.key],
    ['created', operation.created_at],
    ['sent', operation.sending_at],
    ['settled', operation.settled_at],
    ['call', operation.correlation_id],
    [
      'arguments',
      operation.arguments
        ? pretty(operation.arguments)
        : 'cannot be shown: they are sealed, and its tool is not known here',
    ],
    [
      'steps',
      steps.length > 0 ? steps.map(({ name, state }) => `${name}: ${state}`).join('\n') : undefined,
    ],
    ['answer', answer && pretty(answer)],
    ['asked by', approval && `rule ${approval.rule}: ${approval.explanation}`],
    ['cost', costText(approval?.cost)],
    ['duplicate', approval?.duplicate && 'yes: the agent says that the same again is meant'],
    [
      'edited',
      approval?.edited ? 'yes: these are not the arguments that the agent gave' : undefined,
    ],
    ['expires', approval?.expires_at],
    ['decided', approval?.decision && `${approval.decision} by ${approval.decided_by ?? 'nobody'}`],
    ['reason', approval?.reason],
    ['hash', approval?.hash],
  ]);
}

/** An estimate, as its tool makes it. */
export function costText(cost: NonNullable<OperationView['approval']>['cost']): string | undefined {
  return cost && `${cost.amount} ${cost.unit}`;
}
