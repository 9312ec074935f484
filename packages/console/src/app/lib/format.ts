/** Numbers with units, and times with their zone. Every function accepts what an upstream may have sent. */

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const NONE = '–';

export function formatCount(count: number): string {
  return Number.isFinite(count) ? NUMBER.format(count) : NONE;
}

const AMOUNT = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });

const MONEY = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });

/** A cost: `1 post`, `0.20 USD`, `0.015 USD`. */
export function formatAmount({ amount, unit }: { amount: number; unit: string }): string {
  const format = /^[A-Z]{3}$/.test(unit) ? MONEY : AMOUNT;
  return `${Number.isFinite(amount) ? format.format(amount) : NONE} ${unit}`;
}

/** `1 call`, `2 calls`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Requests that could act, apart from those that only read. */
export function attemptsText({
  attempts,
  sends,
}: {
  readonly attempts: number;
  readonly sends?: number;
}): string {
  if (attempts === 0) return 'no request';
  if (sends === undefined) return plural(attempts, 'attempt');
  return `${plural(sends, 'attempt')}, ${plural(attempts - sends, 'read-back')}`;
}

/** A duration in the unit that fits: `340 ms`, `2.4 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return NONE;
  if (ms < 0) return `−${formatDuration(-ms)}`;
  if (ms < 10 && ms % 1 !== 0) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const [minutes, hours, days] = [60, 3_600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  if (minutes < 60) return two(minutes, 'min', seconds % 60, 's');
  if (hours < 24) return two(hours, 'h', minutes % 60, 'min');
  return two(days, 'd', hours % 24, 'h');
}

const two = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;

/** An age in one unit, which changes seldom enough to be read: `now`, `12 s`, `3 min`, `2 h`, `4 d`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 2) return 'now';
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A span that is left or has passed, in one unit, at least a second: `1 s`, `12 s`, `3 min`. */
export function formatSpan(ms: number): string {
  return ms < 2000 ? '1 s' : formatAge(ms);
}

/** A share of one, without claiming 100 % for 99.99 % or 0 % for one in a million. */
export function formatShare(share: number | undefined): string {
  if (share === undefined || !Number.isFinite(share)) return NONE;
  const percent = share * 100;
  if (percent > 99.9 && percent < 100) return '>99.9 %';
  if (percent > 0 && percent < 0.1) return '<0.1 %';
  return `${Number(percent.toFixed(1))} %`;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const DAY_YEAR = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const ZONE = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });

/** The short name of the local zone at a moment: `CET`, `GMT+2`. */
export function zoneAt(at: number): string {
  if (!isMoment(at)) return '';
  return ZONE.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** When a call ended; `at` is its start. */
export function endOf({ at, elapsed_ms }: { at: string; elapsed_ms: number }): number {
  return toMs(at) + elapsed_ms;
}

/** Milliseconds of an ISO time or of a number; NaN for anything else. */
export function toMs(at: string | number | undefined): number {
  return typeof at === 'string' ? Date.parse(at) : (at ?? NaN);
}

const isMoment = (at: number): boolean => Number.isFinite(at) && Math.abs(at) < 8.64e15;

/** The local time; with the day if it is not today: `14:03:22`, `12 May, 14:03:22`. */
export function formatTime(at: string | number | undefined, now: number = Date.now()): string {
  const ms = toMs(at);
  if (!isMoment(ms)) return NONE;
  const day = dayOf(ms, now);
  return day === '' ? CLOCK.format(ms) : `${day}, ${CLOCK.format(ms)}`;
}

/** The local time with its zone, for places where it stands alone. */
export function formatMoment(at: string | number | undefined, now: number = Date.now()): string {
  const ms = toMs(at);
  return isMoment(ms) ? `${formatTime(ms, now)} ${zoneAt(ms)}` : NONE;
}

function dayOf(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  if (then.toDateString() === today.toDateString()) return '';
  return then.getFullYear() === today.getFullYear() ? DAY.format(at) : DAY_YEAR.format(at);
}

/** A word for a state or a code, as people write it: `awaiting_approval` is `awaiting approval`. */
export function words(text: string): string {
  return text.replaceAll('_', ' ');
}

/** The beginning of an id, enough to recognise it; the whole is in its title and behind its link. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 12)}…`;
}
