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
export const bytes = (value) => `${Math.round(value).toLocaleString('en')} B`;

/**
 * @param {Spread} spread
 * @param {(value: number) => string} [show]
 */
export const withSpread = ({ median, min, max }, show = digits) =>
  min === max ? show(median) : `${show(median)} [${show(min)}–${show(max)}]`;
