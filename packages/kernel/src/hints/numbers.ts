/** At most 15 digits, so that every value is an exact integer. */
const COUNT = /^\d{1,15}$/;

/** RFC 9110 allows whole seconds only, but several LLM gateways send fractions. */
const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/;

/** A non-negative integer in plain digits: no sign, exponent, hex or list. */
export function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && COUNT.test(text) ? Number(text) : undefined;
}

/** A non-negative decimal number in plain digits. */
export function parseDecimal(text: string | undefined): number | undefined {
  return text !== undefined && DECIMAL.test(text) ? Number(text) : undefined;
}

/** One part of a Go duration: "1.5h", "6m", "250ms". */
const PART = /(\d{1,12}(?:\.\d{1,9})?)(h|ms|m|s|us|µs|ns)/y;

const UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};

const MAX_DURATION_CHARS = 64;

/** Parses a Go duration ("1s", "6m0s", "250ms", "1h2m3.5s"), as OpenAI sends, to milliseconds. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length === 0 || text.length > MAX_DURATION_CHARS) return undefined;
  let total = 0;
  PART.lastIndex = 0;
  for (let at = 0; at < text.length; at = PART.lastIndex) {
    const part = PART.exec(text);
    if (!part) return undefined;
    total += Number(part[1]) * (UNIT_MS[part[2] ?? ''] ?? Number.NaN);
  }
  return total;
}

const PROTO_DURATION = /^(\d{1,12}(?:\.\d{1,9})?)s$/;

/** Parses a non-negative google.protobuf.Duration ("34.074824224s") to milliseconds. */
export function parseProtoDuration(text: string): number | undefined {
  const match = text.length <= MAX_DURATION_CHARS ? PROTO_DURATION.exec(text) : null;
  return match ? Number(match[1]) * 1000 : undefined;
}

/**
 * The longest plausible delay. The longest real windows are a day (X's app and user limits, daily
 * quotas); the extra hour allows for clock skew. A longer delay is a unit error, such as milliseconds
 * read as seconds, and is ignored.
 */
export const MAX_PLAUSIBLE_WAIT_MS = 90_000_000;

/** Above the rounding error of binary fractions, below the resolution of any server. */
const FLOAT_NOISE = 1e-6;

/** Rounds up, so that a retry is never early. */
export function roundUp(value: number): number {
  return Math.max(0, Math.ceil(value - FLOAT_NOISE));
}

/** The delay in whole milliseconds; undefined if it is negative or implausibly long. */
export function plausibleWait(ms: number): number | undefined {
  return ms >= 0 && ms <= MAX_PLAUSIBLE_WAIT_MS ? roundUp(ms) : undefined;
}
