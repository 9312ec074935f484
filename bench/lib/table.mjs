/**
 * @typedef {object} Table
 * @property {readonly string[]} head
 * @property {readonly (readonly string[])[]} rows a row of one cell is a heading
 * @property {readonly number[]} [words] the columns that hold words, beside the first; the others hold numbers
 */

/**
 * @param {Table} table
 * @param {number} column
 */
const holdsWords = ({ words = [] }, column) => column === 0 || words.includes(column);

/** @param {Table} table */
export const asMarkdown = (table) => {
  const { head, rows } = table;
  return [
    `| ${head.join(' | ')} |`,
    `| ${head.map((_, column) => (holdsWords(table, column) ? '---' : '---:')).join(' | ')} |`,
    ...rows.map((row) =>
      row.length === 1
        ? `| **${row[0]}** |${' |'.repeat(head.length - 1)}`
        : `| ${row.join(' | ')} |`,
    ),
  ].join('\n');
};

/** @param {Table} table */
export const asText = (table) => {
  const { head, rows } = table;
  const whole = [head, ...rows.filter((row) => row.length > 1)];
  const widths = head.map((_, column) => Math.max(...whole.map((row) => row[column]?.length ?? 0)));
  const line = (/** @type {readonly string[]} */ row) =>
    row
      .map((cell, column) =>
        holdsWords(table, column)
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map((row) => (row.length === 1 ? `\n${row[0]}` : line(row)))].join(
    '\n',
  );
};
