import { styleText } from 'node:util';
import type { RuntimeContext } from '../surroundings.js';

/** Texts come from agents and upstreams: none of them may steer a terminal. */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return character === '\n' ? character : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

const oneLine = (text: string): string => harmless(text.replaceAll('\n', ' '));

/** Columns as wide as they have to be, the first line in bold. */
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

/** Names and values, one under the other. What has no value is left out. */
export function facts(pairs: readonly (readonly [string, string | undefined])[]): string {
  const given = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const width = Math.max(0, ...given.map(([name]) => name.length));
  const indent = ' '.repeat(width + 2);
  return given
    .map(([name, value]) => {
      const text = harmless(value).replaceAll('\n', `\n${indent}`);
      return `${name.padEnd(width)}  ${text}\n`;
    })
    .join('');
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A time as the operator's clock shows it: `2026-03-01 13:00:00 CET`. */
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
