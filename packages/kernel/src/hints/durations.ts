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

const LONGEST = 64;

/** OpenAI's resets are Go durations: "1s", "6m0s", "250ms", "1h2m3.5s". In milliseconds. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length === 0 || text.length > LONGEST) return undefined;
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

/** google.protobuf.Duration in JSON, "34.074824224s". A negative one is no wait. In milliseconds. */
export function parseProtoDuration(text: string): number | undefined {
  const match = text.length <= LONGEST ? PROTO_DURATION.exec(text) : null;
  return match ? Number(match[1]) * 1000 : undefined;
}
