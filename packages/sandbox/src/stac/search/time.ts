import { badParameter } from '../api/problem.js';

/** Milliseconds, both ends included; open ends are infinite. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** A moment of RFC 3339, or undefined: a date alone is not one, nor is the 30th of February. */
export function instantOf(text: string): number | undefined {
  const [, year, month, day] = RFC_3339.exec(text) ?? [];
  const ms = year === undefined ? NaN : Date.parse(text.replace(' ', 'T').toUpperCase());
  if (Number.isNaN(ms)) return undefined;
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= days ? ms : undefined;
}

/** The `datetime` parameter: a moment, or an interval of which one end may be open. */
export function spanOf(text: string, name = 'datetime'): Span {
  const ends = text.split('/');
  if (ends.length === 1) {
    const moment = endOf(text, name);
    return { from: moment, to: moment };
  }
  const [first = '', last = ''] = ends;
  const [openStart, openEnd] = [isOpen(first), isOpen(last)];
  if (ends.length > 2) throw badParameter(name, 'has more than two ends');
  if (openStart && openEnd) throw badParameter(name, 'is open at both ends');
  const from = openStart ? -Infinity : endOf(first, name);
  const to = openEnd ? Infinity : endOf(last, name);
  if (from > to) throw badParameter(name, 'ends before it begins');
  return { from, to };
}

function isOpen(end: string): boolean {
  return end === '' || end === '..';
}

function endOf(text: string, name: string): number {
  const ms = instantOf(text);
  if (ms === undefined) throw badParameter(name, `"${text}" is not a date and time of RFC 3339`);
  return ms;
}

export function overlap(one: Span, other: Span): boolean {
  return one.from <= other.to && other.from <= one.to;
}
