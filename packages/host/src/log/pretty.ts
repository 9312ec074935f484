import { styleText } from 'node:util';
import type { LogLevel } from './log.js';

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Record<string, Style>> = {
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
} satisfies Record<LogLevel, Style>;

const PLAIN = /^[\w.:/@%+-]+$/;
// Valid in JSON, but a terminal may interpret these as commands or hide the characters after them.
const UNSAFE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Formats JSON log lines for a terminal. Other lines are kept, with control characters escaped. */
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
  if (!entry) return format(line, true);
  const { level, time, event, ...fields } = entry;
  const name = typeof level === 'string' ? level : '';
  const formatted = Object.entries(fields).map(
    ([key, value]) => `${paint('gray', `${format(key)}=`)}${format(value)}`,
  );
  return [
    paint('gray', typeof time === 'string' ? format(time.slice(11, 23)) : ''),
    paint(STYLES[name] ?? 'gray', format(name).toUpperCase().padEnd(5)),
    paint('bold', format(event)),
    ...formatted,
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

/** Formats a value as a single line without control characters. */
function format(value: unknown, unquoted = false): string {
  if (typeof value === 'string' && (PLAIN.test(value) || value === '')) return value;
  const json = JSON.stringify(value) ?? '';
  const text = unquoted ? json.slice(1, -1).replaceAll(String.raw`\"`, '"') : json;
  return text.replaceAll(UNSAFE, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
