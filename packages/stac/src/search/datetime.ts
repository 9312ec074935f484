/** A time span in milliseconds since 1970; an open end is infinite. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export type Datetime =
  | { readonly ok: true; readonly value: string; readonly span: Span }
  | { readonly ok: false; readonly problem: string };

/** The first and last instant of a year, month, day or time. */
interface Period {
  /** RFC 3339, as sent to the catalogue. */
  readonly first: string;
  readonly last: string;
}

const DATE_FORM =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([Zz]|[+-]\d{2}:?\d{2})?)?)?)?$/;

/**
 * Parses common date notations into the form that servers accept: an RFC 3339 datetime or an interval,
 * with `..` for an open end. A year, month or day covers its whole period; a time without a zone is UTC.
 */
export function parseDatetime(given: string): Datetime {
  const parts = given.trim().split('/');
  if (parts.length > 2) return problem('has more than one "/"');
  const [start = '', end] = parts.map((part) => part.trim());
  if (end === undefined) return parseSingle(start);
  const isOpen = (part: string) => part === '' || part === '..';
  if (isOpen(start) && isOpen(end)) return problem('is open at both ends: leave it out instead');
  const from = isOpen(start) ? undefined : parsePeriod(start);
  const to = isOpen(end) ? undefined : parsePeriod(end);
  if (from === null) return problem(`"${start}" is not a date or time`);
  if (to === null) return problem(`"${end}" is not a date or time`);
  const span = {
    from: from ? Date.parse(from.first) : -Infinity,
    to: to ? Date.parse(to.last) : Infinity,
  };
  if (span.from > span.to) return problem('ends before it begins');
  return { ok: true, value: `${from?.first ?? '..'}/${to?.last ?? '..'}`, span };
}

function parseSingle(text: string): Datetime {
  const period = parsePeriod(text);
  if (!period) return problem(`"${text}" is not a date or time`);
  const { first, last } = period;
  const span = { from: Date.parse(first), to: Date.parse(last) };
  return { ok: true, value: first === last ? first : `${first}/${last}`, span };
}

function problem(text: string): Datetime {
  return { ok: false, problem: text };
}

/** Null if the string is not a date or time. */
function parsePeriod(text: string): Period | null {
  const match = DATE_FORM.exec(text);
  if (!match) return null;
  const [, year = '', month, day, hour, minute, second = '00', fraction, zone = 'Z'] = match;
  if (hour === undefined) return wholeDays(Number(year), month, day);
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : zone.replace(/^(.{3}):?/, '$1:');
  const decimals = fraction === undefined ? '' : `.${fraction}`;
  const instant = `${year}-${month}-${day}T${hour}:${minute}:${second}${decimals}${offset}`;
  return isReal(Number(year), Number(month), Number(day)) && !Number.isNaN(Date.parse(instant))
    ? { first: instant, last: instant }
    : null;
}

function wholeDays(year: number, month?: string, day?: string): Period | null {
  const from = [year, Number(month ?? 1), Number(day ?? 1)] as const;
  if (!isReal(...from)) return null;
  const lastMonth = Number(month ?? 12);
  const to = [year, lastMonth, Number(day ?? daysIn(year, lastMonth))] as const;
  return { first: `${dateText(...from)}T00:00:00Z`, last: `${dateText(...to)}T23:59:59.999Z` };
}

/** `Date.parse` may roll 30 February over into March. */
function isReal(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function dateText(year: number, month: number, day: number): string {
  const pad = (value: number, width: number) => String(value).padStart(width, '0');
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** Whether an item's time overlaps a span. An item without a time does not. */
export function overlapsSpan(properties: Readonly<Record<string, unknown>>, span: Span): boolean {
  const read = (name: string) => {
    const value = properties[name];
    return typeof value === 'string' ? Date.parse(value) : NaN;
  };
  const at = read('datetime');
  const start = Number.isNaN(at) ? read('start_datetime') : at;
  const end = Number.isNaN(at) ? read('end_datetime') : at;
  if (Number.isNaN(start) && Number.isNaN(end)) return false;
  return !(start > span.to) && !(end < span.from);
}
