/** Whether a figure meets its threshold; `plain` without a threshold. */
export type Tone = 'good' | 'bad' | 'plain';

export interface Figure {
  readonly text: string;
  readonly tone: Tone;
}

/** A table for the terminal or a Markdown page. */
export interface Table {
  readonly title: string;
  /** An explanation above the table. */
  readonly lead: string;
  readonly head: readonly string[];
  /** The number of left-aligned text columns; the rest are right-aligned figures. Default 1. */
  readonly textColumns?: number;
  readonly rows: readonly (readonly Figure[])[];
}

export function plain(text: string): Figure {
  return { text, tone: 'plain' };
}

/** A figure with a tone by whether it meets its threshold; a dash if it was not computed. */
export function figure<T>(
  value: T | undefined,
  show: (value: T) => string,
  meets?: (value: T) => boolean,
): Figure {
  if (value === undefined) return plain('–');
  const tone = meets === undefined ? 'plain' : meets(value) ? 'good' : 'bad';
  return { text: show(value), tone };
}

/** Omits rows in which no figure was computed. */
export function filled(rows: readonly (readonly Figure[])[]): (readonly Figure[])[] {
  return rows.filter((row) => row.slice(1).some(({ text }) => text !== '–'));
}

/** The table as Markdown; figures that meet their threshold are bold. */
export function renderMarkdown(table: Table, level = 2): string {
  const { title, lead } = table;
  return [`${'#'.repeat(level)} ${title}`, '', ...(lead ? [lead, ''] : []), grid(table), ''].join(
    '\n',
  );
}

export function grid({ head, rows, textColumns = 1 }: Omit<Table, 'title' | 'lead'>): string {
  const cells = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;
  const aligned = head.map((_, column) => (column < textColumns ? '---' : '---:'));
  return [
    cells(head),
    cells(aligned),
    ...rows.map((row) =>
      cells(row.map(({ text, tone }) => (tone === 'good' ? `**${text}**` : text))),
    ),
  ].join('\n');
}

/** `+4.7 %` for a ratio of 1.047; no decimal from +1000 %. */
export function change(ratio: number): string {
  const percent = (ratio - 1) * 100;
  return `${signed(percent, Math.abs(percent) < 999.95 ? 1 : 0)} %`;
}

export function signed(value: number, digits = 1): string {
  const text = Math.abs(value).toFixed(digits);
  const sign = Number(text) === 0 ? '±' : value > 0 ? '+' : '−';
  return `${sign}${text}`;
}

export function percent(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)} %`;
}

/** `1.24×` */
export function times(load: number, digits = 2): string {
  return `${load.toFixed(digits)}×`;
}

/** Milliseconds with a readable unit. */
export function duration(ms: number): string {
  if (ms === 0) return '0 s';
  if (ms < 10 && !Number.isInteger(ms)) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  const digits = ms % 1000 === 0 || ms >= 100_000 ? 0 : 1;
  return `${(ms / 1000).toFixed(digits)} s`;
}

/** Colours text for a terminal. */
export type Paint = (text: string, tone: Tone | 'title') => string;

const codes = { good: 32, bad: 31, title: 1 } as const;

export function painter(colours: boolean): Paint {
  return (text, tone) =>
    colours && tone !== 'plain' ? `\u001B[${codes[tone]}m${text}\u001B[0m` : text;
}

/** The maximum line length of wrapped text. */
const WIDTH = 100;

export function renderTable(table: Table, paint: Paint): string {
  const { title, lead, head, rows, textColumns = 1 } = table;
  const widths = head.map((text, column) =>
    Math.max(text.length, ...rows.map((row) => row[column]?.text.length ?? 0)),
  );
  const line = (figures: readonly Figure[]): string =>
    figures
      .map(({ text, tone }, column) => {
        const width = widths[column] ?? 0;
        const padded = column < textColumns ? text.padEnd(width) : text.padStart(width);
        return paint(padded, tone);
      })
      .join('  ')
      .trimEnd();
  const heading = line(head.map((text) => ({ text, tone: 'plain' as const })));
  const rule = '─'.repeat(
    Math.max(...[heading, ...rows.map(plainLine(widths))].map((l) => l.length)),
  );
  return [paint(title, 'title'), ...wrap(lead), '', heading, rule, ...rows.map(line), ''].join(
    '\n',
  );
}

function plainLine(widths: readonly number[]) {
  return (row: readonly Figure[]): string =>
    row.map(({ text }, column) => text.padEnd(widths[column] ?? 0)).join('  ');
}

/** Wraps text between words. */
export function wrap(text: string, width = WIDTH): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
