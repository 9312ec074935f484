/** How a figure stands against its threshold; without one, none. */
export type Tone = 'good' | 'bad' | 'plain';

export interface Figure {
  readonly text: string;
  readonly tone: Tone;
}

/** A table that can be printed on a terminal or into a page. */
export interface Table {
  readonly title: string;
  /** What to know to read it. */
  readonly lead: string;
  readonly head: readonly string[];
  /** So many columns hold text and begin at the left; the rest are figures. Default 1. */
  readonly textColumns?: number;
  readonly rows: readonly (readonly Figure[])[];
}

export function plain(text: string): Figure {
  return { text, tone: 'plain' };
}

/** A figure, shown as good or bad by whether it meets its threshold. Nothing where it was not computed. */
export function figure<T>(
  value: T | undefined,
  show: (value: T) => string,
  meets?: (value: T) => boolean,
): Figure {
  if (value === undefined) return plain('–');
  const tone = meets === undefined ? 'plain' : meets(value) ? 'good' : 'bad';
  return { text: show(value), tone };
}

/** Rows without a single figure were not computed: they are left out. */
export function filled(rows: readonly (readonly Figure[])[]): (readonly Figure[])[] {
  return rows.filter((row) => row.slice(1).some(({ text }) => text !== '–'));
}

/** The same table for a page: what meets its threshold is bold. */
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

/** `+4.7 %` for a ratio of 1.047. From +1000 % on without a decimal. */
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

/** Milliseconds as a person would say them. */
export function duration(ms: number): string {
  if (ms === 0) return '0 s';
  if (ms < 10 && !Number.isInteger(ms)) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  const digits = ms % 1000 === 0 || ms >= 100_000 ? 0 : 1;
  return `${(ms / 1000).toFixed(digits)} s`;
}

/** Colours, where there is a terminal to show them. */
export type Paint = (text: string, tone: Tone | 'title') => string;

const codes = { good: 32, bad: 31, title: 1 } as const;

export function painter(colours: boolean): Paint {
  return (text, tone) =>
    colours && tone !== 'plain' ? `\u001B[${codes[tone]}m${text}\u001B[0m` : text;
}

/** The widest line of running text. */
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

/** Breaks running text between words. */
export function wrap(text: string, width = WIDTH): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
