import { styleText } from 'node:util';
import type { OperationView } from '@toolkeel/journal';
import type { RuntimeContext } from '../runtime.js';

/** Strings come from agents and upstreams and must not control the terminal. */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return character === '\n' ? character : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

export const oneLine = (text: string): string => escapeControls(text.replaceAll('\n', ' '));

/** Aligned columns with a bold header. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { stdout }: RuntimeContext,
): string {
  const lines = [head, ...rows.map((row) => row.map(oneLine))];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const written = lines.map((line) =>
    line
      .map((cell, column) => (column === line.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  const [title = '', ...rest] = written;
  const bold = stdout.colours ? styleText('bold', title, { validateStream: false }) : title;
  return `${[bold, ...rest].join('\n')}\n`;
}

/** Aligned names and values. Skips undefined values. */
export function facts(pairs: readonly (readonly [string, string | undefined])[]): string {
  const given = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const width = Math.max(0, ...given.map(([name]) => name.length));
  const indent = ' '.repeat(width + 2);
  return given
    .map(([name, value]) => {
      const text = escapeControls(value).replaceAll('\n', `\n${indent}`);
      return `${name.padEnd(width)}  ${text}\n`;
    })
    .join('');
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** Local time: `2026-03-01 13:00:00 CET`. */
export function localTime(iso: string, timeZone?: string): string {
  const two = '2-digit';
  const format = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    hourCycle: 'h23',
    timeZoneName: 'short',
    ...(timeZone !== undefined && { timeZone }),
  });
  const parts = new Map(
    format.formatToParts(new Date(iso)).map(({ type, value }) => [type, value] as const),
  );
  const of = (...names: Intl.DateTimeFormatPartTypes[]): string[] =>
    names.map((name) => parts.get(name) ?? '');
  const [zone = ''] = of('timeZoneName');
  return `${of('year', 'month', 'day').join('-')} ${of('hour', 'minute', 'second').join(':')} ${zone}`;
}

type Arguments = NonNullable<OperationView['arguments']>;

/** An operation for the operator: its tool and arguments, then its record. */
export function operationText(operation: OperationView): string {
  const { approval, answer, steps, arguments: args } = operation;
  const shown = args
    ? pretty(args)
    : 'arguments cannot be shown: this process has neither the tool nor the key';
  const metadata = facts([
    ['operation', operation.id],
    ['account', operation.account],
    ['state', operation.state],
    ['outcome', operation.outcome],
    ['code', operation.code],
    ['blocked', blockedText(operation.blocked)],
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
    ['duplicate', approval?.duplicate && 'yes: the agent confirmed the repetition'],
    ['scheduled for', timeOf(approval?.scheduled_for)],
    ['expires', timeOf(approval?.expires_at)],
    ['decided', decisionText(approval)],
    ['reason', approval?.reason],
    ['hash', approval?.hash],
  ]);
  const parts = [
    `${escapeControls(`${operation.tool}\n${shown}`)}\n`,
    editText(operation),
    metadata,
  ];
  return parts.filter((part) => part !== undefined).join('\n');
}

const timeOf = (iso: string | undefined): string | undefined =>
  iso === undefined ? undefined : localTime(iso);

function blockedText(blocked: OperationView['blocked']): string | undefined {
  if (!blocked) return undefined;
  const { reason, explanation, at } = blocked;
  return `${reason}: ${explanation}${at === undefined ? '' : ` (${localTime(at)})`}`;
}

function decisionText(approval: OperationView['approval']): string | undefined {
  const { decision, decided_by: by, decided_at: at } = approval ?? {};
  if (decision === undefined) return undefined;
  const when = at === undefined ? '' : `, ${localTime(at)}`;
  return `${decision}${by === undefined ? '' : ` by ${by}`}${when}`;
}

/** The editor, and each changed argument before and after. */
function editText({ approval, arguments: now = {} }: OperationView): string | undefined {
  if (!approval?.edited) return undefined;
  const { edited_by: by, edited_at: at, requested_arguments: before } = approval;
  const who = by === undefined ? '' : ` by ${by}`;
  const when = at === undefined ? '' : `, ${localTime(at)}`;
  const title = `edited${who}${when}: these are not the arguments of the agent`;
  return `${escapeControls([title, ...(before ? difference(before, now) : [])].join('\n'))}\n`;
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

const MAX_ARGUMENT_LENGTH = 48;

/**
 * The argument that distinguishes operations in a list: the one that the rule's explanation names, else
 * the first required one, else the first.
 */
export function decisiveArgument(
  { arguments: args, approval }: OperationView,
  required: readonly string[] = [],
): string {
  const names = Object.keys(args ?? {});
  const named = names.find((name) => approval?.explanation.includes(`args.${name}`));
  const name = named ?? required.find((candidate) => names.includes(candidate)) ?? names[0];
  if (name === undefined || !args) return '';
  const value = JSON.stringify(args[name]);
  return `${name}: ${value.length > MAX_ARGUMENT_LENGTH ? `${value.slice(0, MAX_ARGUMENT_LENGTH)}…` : value}`;
}

export function costText(cost: NonNullable<OperationView['approval']>['cost']): string | undefined {
  return cost && `${cost.amount} ${cost.unit}`;
}
