import { MAX_PLAUSIBLE_WAIT_MS } from '@toolkeel/kernel';

const UNITS: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^(?:ms|milliseconds?|millis)$/, 1],
  [/^(?:s|secs?|seconds?)$/, 1000],
  [/^(?:m|mins?|minutes?)$/, 60_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
];
const PART = /(\d{1,10}(?:\.\d{1,9})?) ?([a-z]{1,12})(?![a-z])(?:,? (?:and )?(?=\d))?/iy;
const PLAIN = /^(\d{1,13}(?:\.\d{1,9})?)(?=$|[.,;)\]"']|\s*$)/;
const MAX_PARTS = 4;

/**
 * The wait that a string begins with, in milliseconds: `12m3s`, `1.5 seconds`, `1 hour and 5 minutes`, a
 * number of seconds, the seconds since 1970, or a date. Undefined if there is none, or if it is not plausible.
 */
export function waitAtStart(text: string, now: number = Date.now()): number | undefined {
  const given = text.trimStart().slice(0, 100);
  return plausible(fromParts(given) ?? fromNumber(given, now) ?? fromDate(given, now));
}

function fromParts(text: string): number | undefined {
  let total: number | undefined;
  PART.lastIndex = 0;
  for (let part = 0; part < MAX_PARTS; part++) {
    const [, amount, unit = ''] = PART.exec(text) ?? [];
    const [, unitMs] = UNITS.find(([names]) => names.test(unit.toLowerCase())) ?? [];
    if (amount === undefined || unitMs === undefined) break;
    total = (total ?? 0) + Number(amount) * unitMs;
  }
  return total;
}

const EPOCH_2020_SECS = 1_577_836_800;

function fromNumber(text: string, now: number): number | undefined {
  const [, digits] = PLAIN.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const seconds = Number(digits);
  return seconds < EPOCH_2020_SECS ? seconds * 1000 : seconds * 1000 - now;
}

/** Only forms with a year: `Date.parse` reads almost anything. */
function fromDate(text: string, now: number): number | undefined {
  const [iso] =
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)/.exec(text) ?? [];
  const [http] = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/.exec(text) ?? [];
  const at = Date.parse(iso ?? http ?? '');
  return Number.isNaN(at) ? undefined : at - now;
}

function plausible(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 0 && ms <= MAX_PLAUSIBLE_WAIT_MS ? ms : undefined;
}
