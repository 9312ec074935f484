import type { Table } from './table.js';

/** The same table for a page: what meets its bar is bold. */
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
