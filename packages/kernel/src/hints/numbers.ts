/** At most 15 digits, so that every value is an exact integer. */
const COUNT = /^\d{1,15}$/;

/** RFC 9110 knows whole seconds only; several LLM gateways send fractions, and mean them. */
const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/;

/** A non-negative integer in plain digits: no sign, exponent, hex or list. */
export function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && COUNT.test(text) ? Number(text) : undefined;
}

/** A non-negative decimal number in plain digits. */
export function parseDecimal(text: string | undefined): number | undefined {
  return text !== undefined && DECIMAL.test(text) ? Number(text) : undefined;
}
