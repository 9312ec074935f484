/** A span of time in milliseconds since 1970; an end that is open is infinite. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export type Datetime =
  | { readonly ok: true; readonly value: string; readonly span: Span }
  | { readonly ok: false; readonly problem: string };

interface Moment {
  /** RFC 3339, as it goes to the catalogue. */
  readonly first: string;
  readonly last: string;
}

const FORM =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([Zz]|[+-]\d{2}:?\d{2})?)?)?)?$/;

/**
 * Reads every form that people write and makes the one that servers accept: RFC 3339 moments, an
 * interval of them, `..` for an open end. A year, a month or a day stands for all of it; a time
 * without a zone is UTC.
 */
export function readDatetime(given: string): Datetime {
  const parts = given.trim().split('/');
  if (parts.length > 2) return problem('has more than one "/"');
  const [start = '', end] = parts.map((part) => part.trim());
  if (end === undefined) return single(start);
  const isOpen = (part: string) => part === '' || part === '..';
  if (isOpen(start) && isOpen(end)) return problem('is open at both ends: leave it out instead');
  const from = isOpen(start) ? undefined : readMoment(start);
  const to = isOpen(end) ? undefined : readMoment(end);
  if (from === null) return problem(`"${start}" is not a date or time`);
  if (to === null) return problem(`"${end}" is not a date or time`);
  const span = {
    from: from ? Date.parse(from.first) : -Infinity,
    to: to ? Date.parse(to.last) : Infinity,
  };
  if (span.from > span.to) return problem('ends before it begins');
  return { ok: true, value: `${from?.first ?? '..'}/${to?.last ?? '..'}`, span };
}

function single(text: string): Datetime {
  const moment = readMoment(text);
  if (!moment) return problem(`"${text}" is not a date or time`);
  const { first, last } = moment;
  const span = { from: Date.parse(first), to: Date.parse(last) };
  return { ok: true, value: first === last ? first : `${first}/${last}`, span };
}

function problem(text: string): Datetime {
  return { ok: false, problem: text };
}

/** The first and the last moment of what a text names; null if it names none. */
function readMoment(text: string): Moment | null {
  const match = FORM.exec(text);
  if (!match) return null;
  const [, year = '', month, day, hour, minute, second = '00', fraction, zone = 'Z'] = match;
  if (hour === undefined) return wholeDays(Number(year), month, day);
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : zone.replace(/^(.{3}):?/, '$1:');
  const decimals = fraction === undefined ? '' : `.${fraction}`;
  const moment = `${year}-${month}-${day}T${hour}:${minute}:${second}${decimals}${offset}`;
  return isReal(Number(year), Number(month), Number(day)) && !Number.isNaN(Date.parse(moment))
    ? { first: moment, last: moment }
    : null;
}

function wholeDays(year: number, month?: string, day?: string): Moment | null {
  const from = [year, Number(month ?? 1), Number(day ?? 1)] as const;
  if (!isReal(...from)) return null;
  const lastMonth = Number(month ?? 12);
  const to = [year, lastMonth, Number(day ?? daysIn(year, lastMonth))] as const;
  return { first: `${dateText(...from)}T00:00:00Z`, last: `${dateText(...to)}T23:59:59.999Z` };
}

/** The calendar's own check: a parser may roll 30 February over into March. */
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

/** Whether an item's time touches a span. An item without any time touches none. */
export function touches(properties: Readonly<Record<string, unknown>>, span: Span): boolean {
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
