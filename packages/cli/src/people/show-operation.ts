import type { OperationView } from '@toolkeel/journal';
import { facts, harmless, localTime, pretty } from './print.js';

type Arguments = NonNullable<OperationView['arguments']>;

/** An operation as an operator reads it: what it does first, then what is recorded about it. */
export function operationText(operation: OperationView): string {
  const { approval, answer, steps, arguments: args } = operation;
  const shown = args
    ? pretty(args)
    : 'arguments cannot be shown: this process has neither their tool nor their key';
  const metadata = facts([
    ['operation', operation.id],
    ['account', operation.account],
    ['state', operation.state],
    ['outcome', operation.outcome],
    ['code', operation.code],
    ['key', operation.key],
    ['created', timeOf(operation.created_at)],
    ['sent', timeOf(operation.sending_at)],
    ['settled', timeOf(operation.settled_at)],
    ['call', operation.correlation_id],
    [
      'steps',
      steps.length > 0 ? steps.map(({ name, state }) => `${name}: ${state}`).join('\n') : undefined,
    ],
    ['answer', operation.code === 'approval_required' ? undefined : answer && pretty(answer)],
    ['asked by', approval && `rule ${approval.rule}: ${approval.explanation}`],
    ['cost', costText(approval?.cost)],
    ['duplicate', approval?.duplicate && 'yes: the agent says that the same again is meant'],
    ['expires', timeOf(approval?.expires_at)],
    ['decided', decisionText(approval)],
    ['reason', approval?.reason],
    ['hash', approval?.hash],
  ]);
  const parts = [`${harmless(`${operation.tool}\n${shown}`)}\n`, editText(operation), metadata];
  return parts.filter((part) => part !== undefined).join('\n');
}

const timeOf = (iso: string | undefined): string | undefined =>
  iso === undefined ? undefined : localTime(iso);

function decisionText(approval: OperationView['approval']): string | undefined {
  const { decision, decided_by: by, decided_at: at } = approval ?? {};
  if (decision === undefined) return undefined;
  const when = at === undefined ? '' : `, ${localTime(at)}`;
  return `${decision}${by === undefined ? '' : ` by ${by}`}${when}`;
}

/** Who edited the arguments, and each argument before and after. */
function editText({ approval, arguments: now = {} }: OperationView): string | undefined {
  if (!approval?.edited) return undefined;
  const { edited_by: by, edited_at: at, requested_arguments: before } = approval;
  const who = by === undefined ? '' : ` by ${by}`;
  const when = at === undefined ? '' : `, ${localTime(at)}`;
  const title = `edited${who}${when}: these are not the arguments that the agent gave`;
  return `${harmless([title, ...(before ? difference(before, now) : [])].join('\n'))}\n`;
}

function difference(before: Arguments, after: Arguments): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [was, is] = [JSON.stringify(before[name]), JSON.stringify(after[name])];
    if (was === is) return [];
    return [
      ...(was === undefined ? [] : [`- ${name}: ${was}`]),
      ...(is === undefined ? [] : [`+ ${name}: ${is}`]),
    ];
  });
}

const SHORT = 48;

/**
 * The argument that tells operations in a list apart: the one that the rule's explanation names, else
 * the first that the tool requires, else the first.
 */
export function decisiveArgument(
  { arguments: args, approval }: OperationView,
  required: readonly string[] = [],
): string {
  const names = Object.keys(args ?? {});
  const named = names.find((name) => approval?.explanation.includes(`args.${name}`));
  const name = named ?? required.find((one) => names.includes(one)) ?? names[0];
  if (name === undefined || !args) return '';
  const value = JSON.stringify(args[name]);
  return `${name}: ${value.length > SHORT ? `${value.slice(0, SHORT)}…` : value}`;
}

/** An estimate, as its tool makes it. */
export function costText(cost: NonNullable<OperationView['approval']>['cost']): string | undefined {
  return cost && `${cost.amount} ${cost.unit}`;
}
