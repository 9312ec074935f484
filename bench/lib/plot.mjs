import { digits } from './format.mjs';

const width = 50;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * A bar of whole and eighth blocks. What is there at all is seen.
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
