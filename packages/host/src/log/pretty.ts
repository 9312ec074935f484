import { styleText } from 'node:util';
import type { LogLevel } from './log.js';

type Style = Parameters<typeof styleText>[0];

const styleOf: Readonly<Record<string, Style>> = {
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
} satisfies Record<LogLevel, Style>;

const PLAIN = /^[\w.:/@%+-]+$/;
// JSON lets these through, and a terminal may obey them or hide what stands behind them.
const UNSAFE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Lines of the log as people read them. What is no line of the log stays as it is, but harmless. */
export function prettyLines(text: string, { colours = false } = {}): string {
  const paint = (style: Style, part: string): string =>
    colours ? styleText(style, part, { validateStream: false }) : part;
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : prettyLine(line, paint)))
    .join('\n');
}

function prettyLine(line: string, paint: (style: Style, part: string) => string): string {
  const entry = parse(line);
  if (!entry) return shown(line, true);
  const { level, time, event, ...fields } = entry;
  const name = typeof level === 'string' ? level : '';
  const parts = Object.entries(fields).map(
    ([key, value]) => `${paint('gray', `${shown(key)}=`)}${shown(value)}`,
  );
  return [
    paint('gray', typeof time === 'string' ? shown(time.slice(11, 23)) : ''),
    paint(styleOf[name] ?? 'gray', shown(name).toUpperCase().padEnd(5)),
    paint('bold', shown(event)),
    ...parts,
  ].join(' ');
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isEntry = typeof value === 'object' && value !== null && 'event' in value;
    return isEntry ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A value in one line, without anything that a terminal could take for a command. */
function shown(value: unknown, bare = false): string {
  if (typeof value === 'string' && (PLAIN.test(value) || value === '')) return value;
  const json = JSON.stringify(value) ?? '';
  const text = bare ? json.slice(1, -1).replaceAll(String.raw`\"`, '"') : json;
  return text.replaceAll(UNSAFE, escaped);
}

function escaped(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
