/** @typedef {import('./stats.mjs').Spread} Spread */

/** @param {number} value */
export const digits = (value) => {
  const text = value.toFixed(Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0);
  return text === '-0.00' ? '0.00' : text;
};

/** @param {number} value */
export const times = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ×`;

/** @param {number} value */
export const inHundredths = (value) => `${value.toFixed(2)} ×`;

/** @param {number} value */
export const percent = (value) => `${(value * 100).toFixed(1)} %`;

/** @param {number} value */
export const bytes = (value) => `${Math.round(value).toLocaleString('en')} B`;

/**
 * @param {Spread} spread
 * @param {(value: number) => string} [show]
 */
export const withSpread = ({ median, min, max }, show = digits) =>
  min === max ? show(median) : `${show(median)} [${show(min)}–${show(max)}]`;

/**
 * @typedef {object} Table
 * @property {readonly string[]} head
 * @property {readonly (readonly string[])[]} rows a row of one cell is a heading
 * @property {readonly number[]} [words] the text columns besides the first; the others hold numbers
 */

/**
 * @param {Table} table
 * @param {number} column
 */
const isText = ({ words = [] }, column) => column === 0 || words.includes(column);

/** @param {Table} table */
export const asMarkdown = (table) => {
  const { head, rows } = table;
  return [
    `| ${head.join(' | ')} |`,
    `| ${head.map((_, column) => (isText(table, column) ? '---' : '---:')).join(' | ')} |`,
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
        isText(table, column)
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map((row) => (row.length === 1 ? `\n${row[0]}` : line(row)))].join(
    '\n',
  );
};

const width = 50;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * A bar of whole and eighth blocks, at least one eighth wide.
 *
 * @param {number} share of the full width
 */
const bar = (share) => {
  const parts = Math.max(1, Math.round(share * width * 8));
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
};

/**
 * @param {readonly { label: string, value: number }[]} items
 * @returns {string}
 */
export const plot = (items) => {
  const longest = Math.max(...items.map(({ label }) => label.length));
  const highest = Math.max(...items.map(({ value }) => value));
  const numbers = items.map(({ value }) => digits(value));
  const numberWidth = Math.max(...numbers.map((text) => text.length));
  return items
    .map(
      ({ label, value }, i) =>
        `${label.padEnd(longest)}  ${(numbers[i] ?? '').padStart(numberWidth)}  ${bar(value / highest)}`,
    )
    .join('\n');
};
